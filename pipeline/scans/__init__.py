"""What the scan steps share: their files, tables, seeds, labels and hints."""
