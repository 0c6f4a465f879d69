"""What tests of several rooms do alike, each thing in one place."""
