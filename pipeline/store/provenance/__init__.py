"""From a result back to its scans, and whether each link still holds."""
