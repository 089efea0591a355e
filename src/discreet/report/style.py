"""Colours, in the light and in the dark, and the one style sheet."""

from typing import Final

LIGHT: Final = {
    "page": "#f4f6f8",
    "card": "#ffffff",
    "ink": "#17212b",
    "soft": "#4d5b69",
    "line": "#d5dce3",
    "grid": "#e4e9ee",
    "accent": "#1b5e8c",
    "bar": "#5b93bf",
    "privacy": "#b04a00",
    "warn": "#b00020",
    "warnpage": "#fdeef0",
    "good": "#1d6b3a",
}
DARK: Final = {
    "page": "#0e1318",
    "card": "#182027",
    "ink": "#e8eef4",
    "soft": "#a3b1be",
    "line": "#33404b",
    "grid": "#2a353f",
    "accent": "#79bdf2",
    "bar": "#4a86b0",
    "privacy": "#f2a65e",
    "warn": "#ff8a95",
    "warnpage": "#34181c",
    "good": "#74cf97",
}


def _variables(colours: dict[str, str]) -> str:
    return "".join(f"--{name}:{value};" for name, value in colours.items())


SHEET: Final = (
    f":root{{color-scheme:light dark;{_variables(LIGHT)}}}"
    f"@media (prefers-color-scheme:dark){{:root{{{_variables(DARK)}}}}}"
    """
*{box-sizing:border-box}
html{-webkit-text-size-adjust:100%}
body{margin:0;background:var(--page);color:var(--ink);
font:16px/1.55 system-ui,-apple-system,"Segoe UI",Roboto,"Noto Sans",sans-serif;overflow-wrap:anywhere}
main,header,footer{max-width:54rem;margin:0 auto;padding:0 1rem}
header{padding-top:2.2rem}
h1{font-size:1.9rem;line-height:1.2;margin:0 0 .4rem}
h2{font-size:1.3rem;margin:2.6rem 0 .8rem}
h3{font-size:1.08rem;line-height:1.35;margin:0 0 .5rem}
h4{font-size:.95rem;margin:1.2rem 0 .3rem}
p{margin:.5rem 0}
a{color:var(--accent)}
.soft,figcaption,.notes,dt,th{color:var(--soft)}
.lead{font-size:1.12rem}
.card{background:var(--card);border:1px solid var(--line);border-radius:10px;padding:1.15rem 1.3rem;margin:0 0 1.1rem}
section>.card>:first-child{margin-top:0}.card>:last-child{margin-bottom:0}
.row.strip{margin-top:.8rem}.strip+figure{margin-top:0}
.answer{font-size:1.05rem;margin:.2rem 0 .6rem}
.warn{color:var(--warn);background:var(--warnpage);border:1px solid var(--warn);border-radius:6px;padding:.35rem .7rem;
font-weight:650}
.refused{border-left:5px solid var(--privacy)}
.refusal{border-left:3px solid var(--privacy);padding-left:.8rem}
figure{margin:1rem 0 .4rem}
figcaption,.notes,.guarantee{font-size:.87rem}
figcaption{margin-top:.35rem}
.notes{margin:.4rem 0 0;padding-left:1.1rem}
.row{display:grid;grid-template-columns:11rem 1fr 12rem;gap:0 .8rem;align-items:center;font-size:.9rem}
.row .name{text-align:right;line-height:1.2;padding:.15rem 0}
.row .said{font-variant-numeric:tabular-nums;line-height:1.2}
.row svg{grid-column:2}
.row.axis{font-size:.8rem}
svg{display:block;width:100%;overflow:visible}
svg text{font:12px system-ui,-apple-system,"Segoe UI",Roboto,"Noto Sans",sans-serif;fill:var(--soft)}
svg .strong{fill:var(--ink);font-weight:600}
.grid{stroke:var(--grid)}.base{stroke:var(--soft)}
.whisker{stroke:var(--accent);stroke-width:2.5}
.whisker.noise{stroke:var(--privacy)}
.dot{fill:var(--ink);stroke:var(--card);stroke-width:1.5}
.privacy{stroke:var(--privacy);stroke-width:9;stroke-opacity:.45}
.bar{fill:var(--bar)}.band{fill:var(--bar);fill-opacity:.5}
.curve{fill:none;stroke:var(--accent);stroke-width:1.5;vector-effect:non-scaling-stroke}
.limit{stroke:var(--warn);stroke-width:1.5;stroke-dasharray:4 3}
.reject{fill:var(--warn);fill-opacity:.09}
.before{fill:var(--soft)}.now{fill:var(--accent)}.left{fill:var(--grid);stroke:var(--soft)}
.key{display:inline-block;width:.85em;height:.85em;border-radius:2px;margin-right:.4em;vertical-align:-.06em}
.key.before{background:var(--soft)}.key.now{background:var(--accent)}
.key.left{background:var(--grid);border:1px solid var(--soft)}
.wide{overflow-x:auto}
table{overflow-wrap:normal;border-collapse:collapse;font-size:.9rem;font-variant-numeric:tabular-nums}
th,td{padding:.3rem .7rem .3rem 0;text-align:left;vertical-align:top;border-bottom:1px solid var(--line)}
th{font-weight:600}
td.n,th.n{text-align:right}
table.matrix td{padding:.4rem .7rem;text-align:right;border:1px solid var(--line);position:relative}
table.matrix th,table.matrix thead td{border:0;padding-left:.4rem}
table.matrix td small{display:block;color:var(--ink);white-space:nowrap}
table.matrix td.up{background:color-mix(in srgb,var(--accent) var(--share),var(--card))}
table.matrix td.down{background:color-mix(in srgb,var(--privacy) var(--share),var(--card))}
dl{display:grid;grid-template-columns:max-content 1fr;gap:.15rem 1rem;font-size:.9rem;margin:.7rem 0}
dt,dd{margin:0}
.mono td,.mono th{overflow-wrap:anywhere;
font-family:ui-monospace,SFMono-Regular,Menlo,Consolas,"DejaVu Sans Mono",monospace;font-size:.82rem}
.contents{columns:2;padding-left:1.7rem;font-size:.93rem}
.contents li{break-inside:avoid}
footer{padding:1.5rem 1rem 3rem;font-size:.85rem;color:var(--soft)}
:focus-visible{outline:3px solid var(--accent);outline-offset:2px}
@media (max-width:40rem){
h1{font-size:1.5rem}.card{padding:.95rem .9rem}.contents{columns:1}
.row{grid-template-columns:minmax(40%,1fr) auto;margin-bottom:.35rem}
.row .name{text-align:left}.row .said{text-align:right}
.row svg{grid-column:1/-1;grid-row:2}.row.axis .name,.row.axis .said{display:none}
dl{grid-template-columns:6.6rem 1fr}}
"""
    f"@media print{{:root{{color-scheme:light;{_variables(LIGHT)}--page:#ffffff}}"
    "body{font-size:11pt;-webkit-print-color-adjust:exact;print-color-adjust:exact}"
    "main,header,footer{max-width:none;padding-left:0;padding-right:0}"
    ".card{break-inside:avoid;border-radius:0}h2,h3{break-after:avoid}nav{display:none}.wide{overflow:visible}}"
)
