"""What a rod is: nodes, edges, material; the star robot of [Hu20]."""
