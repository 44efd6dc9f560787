export const HELP = `Hawser is a local-first agent harness. One append-only Log per Session is the truth;
what a model, an editor, a browser or a terminal sees is a view of that Log.

Usage: hawser [option]

  -h, --help     show this text
  -V, --version  show the version

These are all the commands of this version. README.md says what is being built.

Example: hawser --version
`
