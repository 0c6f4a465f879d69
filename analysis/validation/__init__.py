"""Does a simulation agree with a scan? Begin with `comparison`, then `verdicts`."""
