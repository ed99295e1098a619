"""A bar chart as SVG, drawn by hand so that a benchmark needs no plotting library."""

from pathlib import Path

WIDTH, LEFT, RIGHT, BAR, GAP, TOP = 760, 170, 150, 26, 14, 64
FONT = 'font-family="system-ui, Helvetica, Arial, sans-serif"'


def write_bars(path: str, title: str, subtitle: str, rows: list[tuple[str, float, str]], highlight: str) -> None:
    """Write horizontal bars: (name, length, text at its end); names that start with ``highlight`` stand out."""
    longest = max(length for _, length, _ in rows)
    height = TOP + len(rows) * (BAR + GAP) + 10
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height}" role="img" aria-label="{title}">',
        f'<rect width="{WIDTH}" height="{height}" fill="#ffffff"/>',
        f'<text x="16" y="26" {FONT} font-size="17" font-weight="600" fill="#1b1f24">{title}</text>',
        f'<text x="16" y="46" {FONT} font-size="13" fill="#57606a">{subtitle}</text>',
    ]
    for k, (name, length, text) in enumerate(rows):
        y = TOP + k * (BAR + GAP)
        wide = max(2.0, (WIDTH - LEFT - RIGHT) * length / longest)
        ours = name.startswith(highlight)
        colour = "#0a7d4f" if ours else "#b8c0cc"
        weight = "600" if ours else "400"
        middle = y + BAR * 0.68
        parts += [
            f'<text x="{LEFT - 10}" y="{middle:.1f}" text-anchor="end" {FONT} font-size="14" '
            f'font-weight="{weight}" fill="#1b1f24">{name}</text>',
            f'<rect x="{LEFT}" y="{y}" width="{wide:.1f}" height="{BAR}" rx="3" fill="{colour}"/>',
            f'<text x="{LEFT + wide + 8:.1f}" y="{middle:.1f}" {FONT} font-size="14" '
            f'font-weight="{weight}" fill="#1b1f24">{text}</text>',
        ]
    Path(path).write_text("\n".join([*parts, "</svg>", ""]), encoding="utf-8")
