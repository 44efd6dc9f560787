import { access, mkdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { nativePart, nodeIn, Unavailable } from '../support/npm/install.ts'
import type { Pin } from '../support/npm/pin.ts'
import { CLIENTS, GEMINI, OPENCODE } from './pins.ts'
import type { Ran } from '../support/npm/process.ts'

/** A host of MCP servers, added and asked in the way that docs/mcp.md describes. */
export interface McpHost {
  readonly name: string
  readonly pin: Pin
  /** The name of its command, and what that runs. */
  readonly command: string
  readonly program: (modules: string) => Promise<readonly string[]>
  readonly add: (place: HostPlace, document: string) => Promise<void>
  /** Prints that the server is connected or, if the host does not try, that it is enabled. */
  readonly list: string
  readonly listed: RegExp
  /** Has its model, which is at this origin, delegate a task. */
  readonly delegate?: (place: HostPlace, origin: string) => Promise<Ran>
  /** The lines that replace the entry by one for HTTP, and what it then prints. */
  readonly overHttp?: (document: string) => readonly [lines: string, listed: RegExp]
  /** How an image of an answer would be in a request to its model, and whether the host passes it on. */
  readonly image?: { readonly pattern: RegExp; readonly arrives: boolean }
}

export interface HostPlace {
  readonly home: string
  /** Where the host is started. */
  readonly project: string
  /** Runs a line in a shell, with `hawser` and the host in the path. */
  readonly shell: (line: string, env?: Readonly<Record<string, string>>) => Promise<Ran>
}

const CLAUDE: McpHost = {
  name: 'Claude Code',
  pin: CLIENTS['Claude Code'],
  command: 'claude',
  program: async (modules) => [join(await nativePart(modules, CLIENTS['Claude Code']), 'claude')],
  add: (place, document) => runDocumented(place, document, 'Claude Code'),
  list: 'claude mcp list',
  listed: /hawser: hawser mcp .*Connected/,
  delegate: ({ shell }, origin) =>
    shell('claude -p "Delegate it." --allowedTools mcp__hawser', {
      ANTHROPIC_BASE_URL: origin,
      ANTHROPIC_API_KEY: 'offline',
      CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: '1',
      DISABLE_AUTOUPDATER: '1',
      // Otherwise a model has to search for tools before it sees them.
      ENABLE_TOOL_SEARCH: 'false',
    }),
  overHttp: (document) => [
    `claude mcp remove hawser\n${documentedScript(document)}`,
    /hawser: http:\/\/127\.0\.0\.1:\d+\/mcp \(HTTP\) .*Connected/,
  ],
  image: { pattern: /"type":"image","source":\{"type":"base64"/, arrives: true },
}

const CODEX: McpHost = {
  name: 'Codex',
  pin: CLIENTS.Codex,
  command: 'codex',
  program: async (modules) => {
    await nativePart(modules, CLIENTS.Codex)
    return [process.execPath, join(modules, CLIENTS.Codex.name, 'bin', 'codex.js')]
  },
  add: async (place, document) => {
    await runDocumented(place, document, 'Codex')
    const path = join(place.home, '.codex', 'config.toml')
    const written = await readFile(path, 'utf8')
    const [, block = ''] = /```toml\n([^`]+)```/.exec(document) ?? []
    if (!block.startsWith(written.trim()))
      throw new Error(`codex wrote ${written} instead of ${block}`)
    await writeFile(path, block)
  },
  list: 'codex mcp list',
  listed: /hawser +hawser +mcp .*enabled/,
  delegate: ({ shell }, origin) => {
    const provider = `{name="rehearse",base_url="${origin}/v1",env_key="OPENAI_API_KEY",wire_api="responses"}`
    const settings = [
      'model_provider=rehearse',
      `model_providers.rehearse=${provider}`,
      'analytics.enabled=false',
      'check_for_update_on_startup=false',
    ].map((setting) => `-c '${setting}'`)
    // A call is not asked about only without its sandbox.
    const options = '--skip-git-repo-check --dangerously-bypass-approvals-and-sandbox -m gpt-5'
    return shell(`codex exec ${settings.join(' ')} ${options} "Delegate it."`, {
      OPENAI_API_KEY: 'offline',
    })
  },
  // It shows its model only the structured part of a result: see docs/mcp.md.
  image: { pattern: /"type":"input_image"/, arrives: false },
}

const GEMINI_CLI: McpHost = {
  name: 'Gemini CLI',
  pin: GEMINI,
  command: 'gemini',
  program: async (modules) => [nodeIn(modules), join(modules, '.bin', 'gemini')],
  add: async (place, document) => {
    await runDocumented(place, document, 'Gemini CLI')
    // What a person confirms when the host starts in a folder for the first time.
    const trusted = JSON.stringify({ [place.project]: 'TRUST_FOLDER' })
    await writeFile(join(place.home, '.gemini', 'trustedFolders.json'), trusted)
  },
  list: 'gemini mcp list',
  listed: /hawser: hawser mcp .*Connected/,
}

const OPEN_CODE: McpHost = {
  name: 'opencode',
  pin: OPENCODE,
  command: 'opencode',
  program: async (modules) => {
    const platform = `${process.platform}-${process.arch}`
    const path = join(modules, `opencode-${platform}`, 'bin', 'opencode')
    await access(path).catch(() => {
      throw new Unavailable(`opencode has no native binary for ${platform}`)
    })
    return [path]
  },
  add: async ({ home }, document) => {
    const folder = join(home, '.config', 'opencode')
    await mkdir(folder, { recursive: true })
    await writeFile(join(folder, 'opencode.json'), documentedJson(document, 'opencode'))
  },
  list: 'opencode mcp list',
  listed: /hawser.*connected/,
}

export const HOSTS: readonly McpHost[] = [CLAUDE, CODEX, GEMINI_CLI, OPEN_CODE]

/** Runs the command in the table of hosts. */
async function runDocumented(place: HostPlace, document: string, host: string): Promise<void> {
  const [, line] = new RegExp(`^\\| ${host} \\| \`([^\`]+)\``, 'm').exec(document) ?? []
  if (line === undefined) throw new Error(`docs/mcp.md has no command for ${host}`)
  const { code, stdout, stderr } = await place.shell(line)
  if (code !== 0) throw new Error(`${line} ended with ${code}: ${stdout}${stderr}`)
}

/** The first block of JSON after the paragraph that begins with the name of a host. */
function documentedJson(document: string, host: string): string {
  const [, json] =
    new RegExp(`^${host}[^\\n]*:\\n\\n\`\`\`json\\n([^\`]+)\`\`\``, 'm').exec(document) ?? []
  if (json === undefined) throw new Error(`docs/mcp.md has no settings for ${host}`)
  return json
}

function documentedScript(document: string): string {
  const [, lines] = /^### Over HTTP\n[^`]*`\/mcp`[^`]*```sh\n([^`]+)```/m.exec(document) ?? []
  if (lines === undefined) throw new Error('docs/mcp.md has no lines for HTTP')
  return lines
}
