"""Target shapes: the nearest point of each, and a wireframe to draw and print."""
