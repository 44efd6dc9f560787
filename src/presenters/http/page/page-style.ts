export const PAGE_STYLE = `:root { color-scheme: light dark; --edge: #8884; --accent: #1769c5; }
@media (prefers-color-scheme: dark) { :root { --accent: #7db7f5; } }
body { margin: 0; font: 16px/1.55 system-ui, sans-serif; }
main { max-width: 56rem; margin: 0 auto; padding: 3rem 1.25rem 4rem; }
header { display: flex; flex-wrap: wrap; gap: 1rem; align-items: baseline; justify-content: space-between; }
h1 { font-size: 1.7rem; margin: 0 0 1rem; }
h2 { font-size: 1.1rem; margin: 2.25rem 0 .5rem; }
code, pre { font: .9em/1.5 ui-monospace, monospace; }
pre { overflow-x: auto; padding: .8rem 1rem; border: 1px solid var(--edge); border-radius: .4rem; }
.wide { overflow-x: auto; }
table { width: 100%; border-collapse: collapse; }
th, td { padding: .4rem .6rem .4rem 0; text-align: left; vertical-align: top; border-bottom: 1px solid var(--edge); }
td { overflow-wrap: anywhere; }
#sessions td:not(:first-child) { white-space: nowrap; }
form { display: flex; flex-wrap: wrap; gap: .6rem; align-items: center; margin: .5rem 0 1rem; }
input { flex: 1 1 20rem; min-width: 0; font: .9em/1.5 ui-monospace, monospace; padding: .4rem .6rem; }
input, button { border: 1px solid var(--edge); border-radius: .4rem; background: transparent; color: inherit; }
button { font: inherit; padding: .4rem .9rem; cursor: pointer; }
button:hover { border-color: var(--accent); }
:focus-visible { outline: 2px solid var(--accent); outline-offset: 1px; }
details { margin-top: 2.25rem; }
summary { cursor: pointer; font-weight: 600; }
#message { padding: .6rem 1rem; border-left: 3px solid var(--accent); background: #8881; }
`
