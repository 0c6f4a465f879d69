"""Which values a study tries, and which coordinates a designer drives."""
