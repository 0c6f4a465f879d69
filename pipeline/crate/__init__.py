"""What the archive is: its contents, description, reading and comparison."""
