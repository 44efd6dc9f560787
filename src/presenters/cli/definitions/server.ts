import { command, JSON_OPTION } from '../world/command.ts'

export const UP = command({
  name: 'up',
  summary: 'run the local server: the HTTP API for programs and browsers on this machine',
  details: `It listens on the loopback address and on the socket hawserd.sock in your Hawser home, until Ctrl-C or hawser down. Requests need the token in the file token of your Hawser home; only your user can read it. There is one server per Hawser home. Its log is logs/server.ndjson there.\n\nWith --open, it prints a link to the web app, which shows the Sessions of all workspaces, and opens it unless there is no display. The link works once, within 60 seconds, and gives the page the token until its tab is closed.`,
  options: [
    { flags: '--port <n>', help: 'port to listen on (default: 4600, or the next free one)' },
    { flags: '--background', help: 'return as soon as the server is ready; it keeps running' },
    { flags: '--open', help: 'open its page in a browser, also if it is running already' },
    { flags: '--json', help: 'print the address as JSON on standard output' },
  ],
  examples: ['hawser up', 'hawser up --open', 'hawser up --background', 'hawser up --port 4700'],
})

export const ACP = command({
  name: 'acp',
  summary: 'serve an editor: the agent side of the Agent Client Protocol on stdin and stdout',
  details:
    'Editors start it; see docs/editors.md for their settings. Standard output carries messages only, and everything else goes to standard error. It ends when the editor closes its input, and running Turns are interrupted then.',
  options: [],
  examples: ['hawser acp'],
})

export const STATUS = command({
  name: 'status',
  summary: 'show whether the local server is running, and where it listens',
  details: 'The exit code is 0 if it is running and 1 if it is not.',
  options: [JSON_OPTION],
  examples: ['hawser status', 'hawser status --json'],
})

export const DOWN = command({
  name: 'down',
  summary: 'stop the local server',
  details: 'Waits until it has stopped. If no server is running, nothing happens.',
  options: [JSON_OPTION],
  examples: ['hawser down'],
})

export const MCP = command({
  name: 'mcp',
  summary: 'let an MCP host, such as an editor or another agent, work with Instances',
  details: `It serves the Model Context Protocol on standard input and output, in the revision that the host speaks (2024-11-05 to 2026-07-28), until the host closes standard input. Hosts start it themselves: add the command to their settings. docs/mcp.md has examples for common hosts.\n\nThe host gets tools to create Instances, send them messages with images, and read their answers. The first call of a tool starts the local server if none is running. The server keeps running when the host ends, so that Instances can finish their work; hawser down stops it. The server offers the same at /mcp over HTTP.\n\nA message may have 64 MiB; all other output goes to standard error.`,
  options: [],
  examples: [
    'claude mcp add --scope user hawser -- hawser mcp',
    'codex mcp add hawser -- hawser mcp',
  ],
})

export const REHEARSE = command({
  name: 'rehearse',
  summary: 'serve the offline demo model locally over the Anthropic and OpenAI APIs',
  options: [
    { flags: '--port <n>', help: 'port to listen on (default: any free port)' },
    {
      flags: '--cache-rate <n>',
      help: 'cache hits per minute for one cache key (default: no limit)',
    },
    {
      flags: '--strict',
      help: "refuse every field that the types of the vendors' SDKs lack (default: accept what the vendors accept); a single client can use /~strict in its base URL",
    },
    { flags: '--json', help: 'print the address as JSON on standard output' },
  ],
  examples: [
    'hawser rehearse',
    'hawser rehearse --port 4141 --cache-rate 15',
    'hawser rehearse --strict',
  ],
})
