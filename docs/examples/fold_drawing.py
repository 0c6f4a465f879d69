"""A crease pattern drawn in SVG folds: red mountains, blue valleys, black border."""

from pathlib import Path

import morphtrack as mt

LINE = '<line x1="{}" y1="{}" x2="{}" y2="{}" stroke="{}"/>'
border = [(0, 0, 60, 0), (60, 0, 60, 60), (60, 60, 0, 60), (0, 60, 0, 0)]
lines = [LINE.format(*ends, "black") for ends in border]
for ends in [(30, 30, 60, 30), (10, 0, 30, 30), (10, 60, 30, 30)]:
    lines.append(LINE.format(*ends, "red"))
lines.append(LINE.format(0, 30, 30, 30, "blue"))
size = 'width="60mm" height="60mm" viewBox="0 0 60 60"'
drawing = f'<svg xmlns="http://www.w3.org/2000/svg" {size}>{"".join(lines)}</svg>'
Path("vertex.svg").write_text(drawing)

pattern = mt.patterns.from_file("vertex.svg")
run = mt.simulate(mt.Fold(pattern, fraction=0.95))
print(run)
mt.plot(run).savefig("fold_drawing.png", dpi=100)
