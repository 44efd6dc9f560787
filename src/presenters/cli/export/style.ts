/** The style sheet of the exported page, for light and dark screens and for print. */
export const STYLE = `
:root { color-scheme: light dark; --ink: #1c2024; --faint: #5b646d; --paper: #fbfbfa; --card: #ffffff;
  --line: #d9dde1; --person: #0b61a4; --model: #1b7340; --tool: #8a4b08; --harness: #6b4aa0; --damage: #b3261e;
  --added: #dff3e3; --removed: #fbe3e1; }
@media (prefers-color-scheme: dark) {
  :root { --ink: #e4e7ea; --faint: #9aa4ad; --paper: #15181b; --card: #1d2125; --line: #363d44;
    --person: #7cbcf5; --model: #7fd3a0; --tool: #e0a35c; --harness: #c0a5ee; --damage: #ff8a80;
    --added: #173a24; --removed: #47211f; }
}
* { box-sizing: border-box; }
body { margin: 0; background: var(--paper); color: var(--ink); font: 16px/1.5 system-ui, sans-serif; }
main { max-width: 60rem; margin: 0 auto; padding: 2rem 1rem 4rem; }
h1 { font-size: 1.6rem; line-height: 1.25; margin: 0 0 1rem; overflow-wrap: anywhere; }
h2 { font-size: 1.15rem; margin: 2.5rem 0 1rem; padding-bottom: .3rem; border-bottom: 1px solid var(--line); }
h3 { font-size: .95rem; margin: 0 0 .4rem; overflow-wrap: anywhere; }
time { font-weight: normal; font-size: .8rem; color: var(--faint); }
dl { margin: 0; font-size: .9rem; }
dl div { display: flex; gap: .5rem; }
dt { flex: 0 0 7rem; color: var(--faint); }
dd { margin: 0; overflow-wrap: anywhere; }
details.model { margin: 1rem 0; padding: .4rem 1rem; color: var(--faint); }
article { margin: 1rem 0; padding: .8rem 1rem; background: var(--card); border: 1px solid var(--line);
  border-left: 4px solid var(--faint); border-radius: 4px; }
.person { border-left-color: var(--person); } .person h3 { color: var(--person); }
.model { border-left-color: var(--model); } .model h3 { color: var(--model); }
.tool { border-left-color: var(--tool); } .tool h3 { color: var(--tool); }
.harness { border-left-color: var(--harness); } .harness h3 { color: var(--harness); }
pre { margin: 0; white-space: pre-wrap; overflow-wrap: anywhere; font: .85rem/1.45 ui-monospace, monospace;
  max-height: 30rem; overflow: auto; tab-size: 4; }
.person pre, .model pre { max-height: none; }
p { margin: .5rem 0; overflow-wrap: anywhere; }
h4, h5, h6 { font-size: 1rem; margin: .9rem 0 .3rem; overflow-wrap: anywhere; }
article ul, article ol { margin: .4rem 0; padding-left: 1.5rem; overflow-wrap: anywhere; }
.notes { margin-top: .6rem; padding-left: 1.2rem; font-size: .85rem; color: var(--faint); }
blockquote { margin: .5rem 0; padding-left: .8rem; border-left: 3px solid var(--line); color: var(--faint); }
code { font: .9em ui-monospace, monospace; }
.code { margin: .5rem 0; padding: .5rem .7rem; background: var(--paper); border: 1px solid var(--line); border-radius: 3px; }
table { display: block; overflow-x: auto; margin: .5rem 0; border-collapse: collapse; }
th, td { padding: .2rem .6rem; border: 1px solid var(--line); text-align: left; vertical-align: top; }
a { color: var(--person); }
.diff { margin-top: .4rem; max-height: 30rem; overflow: auto; border: 1px solid var(--line); border-radius: 3px; }
.diff pre { max-height: none; overflow: visible; padding: 0 .6rem; }
.added { background: var(--added); } .removed { background: var(--removed); }
.file { font-weight: bold; } .place { color: var(--faint); }
.note { margin: .6rem 0; font-size: .85rem; color: var(--faint); overflow-wrap: anywhere; }
.damage { margin-top: 2rem; color: var(--damage); }
:focus-visible { outline: 2px solid var(--person); outline-offset: 2px; }
@media print {
  :root { color-scheme: light; --ink: #000; --faint: #444; --paper: #fff; --card: #fff; --line: #bbb;
    --person: #000; --model: #000; --tool: #000; --harness: #000; --damage: #000; }
  body { font-size: 10.5pt; }
  main { max-width: none; padding: 0; }
  pre, .diff { max-height: none; overflow: visible; }
  article { break-inside: auto; }
  h2, h3 { break-after: avoid; }
}
`
