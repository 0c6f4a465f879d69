"""The house itself: rooms, the imports between them, the sizes of what they hold."""
