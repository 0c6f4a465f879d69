"""From scanned poses to the mechanism as built."""
