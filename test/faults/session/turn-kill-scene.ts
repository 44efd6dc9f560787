import { asFilePlace } from '../../support/log/file-place.ts'
import { appendFileSync } from 'node:fs'
import { mkdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import * as z from 'zod'
import { sha256 } from '../../../src/encoding/hash.ts'
import type { File, Folder } from '../../../src/host/files/files.ts'
import type { Sandbox } from '../../../src/host/sandbox/sandbox.ts'
import { ok } from '../../../src/model/errors.ts'
import type { Provider } from '../../../src/providers/provider.ts'
import { rehearsalProvider } from '../../../src/providers/rehearsal/stream.ts'
import type { Tool } from '../../../src/tools/tool.ts'
import { openParts, withChanges, type OpenParts } from '../../support/session/harness-parts.ts'

/**
 * The kind of moment at which a process is killed, and its index. `line`: a durable line was reported. `answer`: a piece of
 * the model's answer arrives. `run`, `ran`: a tool is about to run, or has run without a recorded result. `keep`: a blob is
 * stored during a run. `output`: a command prints something. `write`, `half`, `written`: a write to the Log is about to begin,
 * half done, or done but not acknowledged. `open`: its Session is open and has no request yet.
 */
export const MOMENTS = [
  'open',
  'line',
  'answer',
  'run',
  'keep',
  'output',
  'ran',
  'write',
  'half',
  'written',
] as const
export const Moment = z.object({ at: z.enum([...MOMENTS, 'never']), n: z.int() })
export type Moment = z.infer<typeof Moment>

/** Each moment ends one process; the next one continues the Session, and the last one is not killed. */
export type Deaths = readonly Moment[]

/** A few of each kind, around a command with a permanent effect. */
export const QUICK_DEATHS: readonly Deaths[] = [
  [{ at: 'open', n: 1 }],
  [{ at: 'line', n: 13 }],
  [{ at: 'answer', n: 5 }],
  [{ at: 'run', n: 3 }],
  [{ at: 'keep', n: 2 }],
  [{ at: 'output', n: 1 }],
  [{ at: 'ran', n: 3 }],
  [{ at: 'write', n: 9 }],
  [{ at: 'half', n: 4 }],
  [{ at: 'written', n: 6 }],
  [
    { at: 'ran', n: 5 },
    { at: 'half', n: 2 },
  ],
]

/** An effect of a process, recorded at once, outside of everything under test. */
export const Action = z.object({
  /** Processes are numbered in order. */
  by: z.int(),
  /** `sent`: a request, by its hash. `shown`: a piece of its answer. `start`, `end`: a run of a tool, by its `callKey`. */
  what: z.enum(['sent', 'shown', 'start', 'end']),
  of: z.string(),
})
export type Action = z.infer<typeof Action>

/** All ten calls have different keys, so a key identifies a request, whichever process makes it. */
export function callKey(name: string, argumentText: string): string {
  return `${name} ${argumentText}`
}

/** Ten calls in five steps: files written and edited, commands, and concurrent reads. */
export function tenCalls(bash: boolean): string {
  const [first, second] = bash
    ? ['run `echo x | tee -a one.count`', 'run `echo x | tee -a two.count`']
    : ['write "x" to one.count', 'write "x" to two.count']
  return [
    `Write "hull" to a.txt, read harbour.txt and ${first}.`,
    'Then read a.txt and notes.txt, and find "rope" in notes.txt.',
    `Then change hull to hulls in a.txt and ${second}.`,
    'Then list *.txt.',
    'Finally write "keel" to b.txt.',
  ].join(' ')
}

/** The request of the process with that number when it continues; all are different. */
export function nextRequest(by: number): string {
  return `Write "calm" to next-${by}.txt and then read it.`
}

const MOST_PROCESSES = 3

export async function prepareWorkspace(root: string): Promise<void> {
  await mkdir(join(root, 'workspace'), { recursive: true })
  await writeFile(join(root, 'workspace', 'harbour.txt'), 'a quay\n')
  await writeFile(join(root, 'workspace', 'notes.txt'), 'rope\nsail\n')
}

/** How often each effect occurred in the workspace, by `callKey`: an edit and a command leave a trace each time they run. */
export async function effectsIn(root: string, bash: boolean): Promise<Map<string, number>> {
  const times = async (name: string, trace: RegExp) => {
    const text = await readFile(join(root, 'workspace', name), 'utf8').catch(() => '')
    return text.match(trace)?.length ?? 0
  }
  const effects = new Map<string, number>()
  const next = Array.from({ length: MOST_PROCESSES }, (_, by): [string, string] => [
    `next-${by}.txt`,
    'calm',
  ])
  const written: [string, string][] = [['a.txt', 'hull'], ['b.txt', 'keel'], ...next]
  for (const [path, content] of written) {
    const key = callKey('write', JSON.stringify({ content, path }))
    effects.set(key, await times(path, new RegExp(content, 'g')))
  }
  for (const path of ['one.count', 'two.count']) {
    const key = bash
      ? callKey('bash', JSON.stringify({ command: `echo x | tee -a ${path}` }))
      : callKey('write', JSON.stringify({ content: 'x', path }))
    effects.set(key, await times(path, /x/g))
  }
  const edit = { edits: [{ new_text: 'hulls', old_text: 'hull' }], path: 'a.txt' }
  effects.set(callKey('edit', JSON.stringify(edit)), await times('a.txt', /s/g))
  return effects
}

const ACTIONS = 'actions.ndjson'

export async function actionsIn(root: string): Promise<Action[]> {
  const text = await readFile(join(root, ACTIONS), 'utf8').catch(() => '')
  return text.split('\n').flatMap((line) => (line === '' ? [] : [Action.parse(JSON.parse(line))]))
}

export interface SceneOptions {
  /** The number of this process. */
  readonly by: number
  readonly reached?: (moment: Moment['at']) => void
  readonly sandbox?: Sandbox
  /** A harness with a planted bug: every tool runs twice. */
  readonly twice?: boolean
}

/** All real parts, with a recorder between the harness and the outside world that can also end the process. */
export async function openScene(root: string, options: SceneOptions): Promise<OpenParts> {
  const { by, reached = () => {}, sandbox, twice = false } = options
  const note = (what: Action['what'], of: string) => {
    appendFileSync(join(root, ACTIONS), `${JSON.stringify({ by, what, of })}\n`)
  }
  const opened = await openParts(root, sandbox === undefined ? {} : { tools: { sandbox } })
  const { parts } = opened
  const { place } = parts.log
  const files = asFilePlace(place)
  const provider = watchedProvider(note, reached)
  const toolset = [...(await parts.tools.toolset())].map(([name, tool]): [string, Tool] => [
    name,
    watchedTool(tool, note, reached, twice),
  ])
  return {
    ...opened,
    parts: withChanges(parts, {
      log: { place: files.with({ sessions: watchedFolder(files.folders.sessions, reached) }) },
      tools: { toolset: async () => new Map(toolset) },
      model: { providerOf: async () => ok(provider) },
    }),
  }
}

type Note = (what: Action['what'], of: string) => void
type Reached = (moment: Moment['at']) => void

/** Long deltas: every piece of an answer is a moment for a kill. */
function watchedProvider(note: Note, reached: Reached): Provider {
  const provider = rehearsalProvider({ chunk: 64, delayMs: 0 })
  return {
    ...provider,
    stream: async function* (body, signal) {
      const of = sha256(body)
      note('sent', of)
      let isShown = false
      for await (const event of provider.stream(body, signal)) {
        reached('answer')
        if (!isShown && event.type.endsWith('_delta')) note('shown', of)
        isShown ||= event.type.endsWith('_delta')
        yield event
      }
    },
  }
}

function watchedTool(tool: Tool, note: Note, reached: Reached, twice: boolean): Tool {
  return {
    ...tool,
    parse: (text) => {
      const parsed = tool.parse(text)
      if (!parsed.ok) return parsed
      const call = parsed.value
      const key = callKey(tool.name, text)
      return ok({
        claim: call.claim,
        run: async (context) => {
          reached('run')
          const watched: typeof context = {
            ...context,
            keep: async (bytes, type) => {
              const kept = await context.keep(bytes, type)
              reached('keep')
              return kept
            },
            progress: (output) => {
              reached('output')
              context.progress(output)
            },
          }
          if (twice) {
            note('start', key)
            await call.run(watched)
          }
          note('start', key)
          const outcome = await call.run(watched)
          note('end', key)
          reached('ran')
          return outcome
        },
      })
    },
  }
}

/** The folder of the Logs; only writes to a Log are moments. */
function watchedFolder(folder: Folder, reached: Reached): Folder {
  return {
    label: folder.label,
    folder: (name, mode) => folder.folder(name, mode),
    open: async (name, mode) => {
      const file = await folder.open(name, mode)
      return name.endsWith('.ndjson') ? watchedFile(file, reached) : file
    },
    rename: (from, to) => folder.rename(from, to),
    remove: (name) => folder.remove(name),
    names: () => folder.names(),
    sync: () => folder.sync(),
    watch: (name, changed) => folder.watch(name, changed),
    close: () => folder.close(),
  }
}

function watchedFile(file: File, reached: Reached): File {
  return {
    stat: () => file.stat(),
    hasName: () => file.hasName(),
    read: (into, position) => file.read(into, position),
    write: async (bytes) => {
      reached('write')
      const half = Math.ceil(bytes.length / 2)
      const first = await file.write(bytes.subarray(0, half))
      reached('half')
      if (first < half) return first
      const rest = await file.write(bytes.subarray(half))
      reached('written')
      return first + rest
    },
    writeAt: (bytes, position) => file.writeAt(bytes, position),
    truncate: (size) => file.truncate(size),
    datasync: () => file.datasync(),
    sync: () => file.sync(),
    touch: () => file.touch(),
    tryLock: () => file.tryLock(),
    close: () => file.close(),
  }
}
