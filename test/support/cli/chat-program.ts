import { join } from 'node:path'
import * as z from 'zod'
import { Redactor } from '../../../src/encoding/redaction.ts'
import { systemClock } from '../../../src/host/clock.ts'
import { diskFolder } from '../../../src/host/files/disk.ts'
import { systemIds } from '../../../src/host/ids.ts'
import { systemStreams } from '../../../src/host/streams.ts'
import { ok } from '../../../src/model/errors.ts'
import { SessionId } from '../../../src/model/ids.ts'
import { chatActions } from '../../../src/presenters/cli/chat/actions.ts'
import { runChat } from '../../../src/presenters/cli/chat/chat.ts'
import { catalogue } from '../../../src/providers/models/catalogue.ts'
import { judgeModel } from '../../../src/session/settings/model-choice.ts'
import { terminalSignals } from '../../../src/presenters/cli/screen/terminal-signals.ts'
import { drawingOn } from '../../../src/presenters/cli/render/pictures.ts'
import { rehearsalProvider } from '../../../src/providers/rehearsal/stream.ts'
import { systemSkills, type SkillParts } from '../../../src/skills/catalog.ts'
import { skillTrust } from '../../../src/skills/skill-trust.ts'
import { SKILL_TOOLS, toolSchemas } from '../../../src/tools/toolset.ts'
import { Harness } from '../../../src/session/harness.ts'
import { openParts } from '../session/harness-parts.ts'
import { value } from '../log/story.ts'

// A chat with the rehearsal model in the current terminal, so that tests can drive a real chat process. Its only
// argument is the order, as JSON.

const Order = z.object({
  root: z.string(),
  /** The folder of the person, relative to `root`. */
  here: z.string().default('workspace'),
  /** The Session to continue; a new one by default. */
  session: SessionId.optional(),
  permission: z.enum(['read-only', 'ask', 'auto']).default('ask'),
  mode: z.enum(['build', 'plan']).default('build'),
  /** The number of characters in each piece of an answer. */
  chunk: z.number().default(16),
  /** Each piece waits for a SIGUSR2, so that a test decides when it arrives. */
  gated: z.boolean().default(false),
  /** How fast the clock of the chat runs by which it measures durations. */
  pace: z.number().default(1),
  /** The content of the clipboard. */
  clipboard: z.string().default(''),
  /** The terminal can show images, as kitty does. */
  pictures: z.boolean().default(false),
  /** Skills are read from the disk. */
  skills: z.boolean().default(false),
})

const order = Order.parse(JSON.parse(process.argv[2] ?? ''))
const { chunk, gated } = order
const provider = rehearsalProvider({ chunk, delayMs: gated ? 1 : 0, sleep: opened() })
const { parts, close } = await openParts(order.root, {
  model: { providerOf: async () => ok(provider) },
  ...(order.skills
    ? {
        tools: {
          skills: systemSkills(await skillParts(order.root)),
          skillSchemas: toolSchemas(SKILL_TOOLS),
        },
      }
    : {}),
})
const harness = new Harness(parts)
const { session: id, permission, mode } = order
const session = value(
  id === undefined
    ? await harness.create(
        { provider: 'rehearsal', model: 'rehearsal', permissionMode: permission, mode },
        { answers: true },
      )
    : await harness.open(id, { answers: true }),
)
const streams = systemStreams()
process.exitCode = await runChat({
  streams,
  clock: { ...systemClock, monotonicMs: () => systemClock.monotonicMs() * order.pace },
  colour: true,
  signals: terminalSignals(process.env),
  session,
  actions: chatActions(
    {
      cwd: () => join(order.root, order.here),
      version: '1',
      copy: async () => undefined,
      clipboard: async () => ok(Buffer.from(order.clipboard)),
      judge: (named) => judgeModel(named, catalogue({}).rows()),
      trusting: async (work) => work(skillTrust(await skillParts(order.root))),
    },
    harness,
    drawingOn(streams.stdout, order.pictures ? { KITTY_WINDOW_ID: '1' } : {}),
  ),
})
await close()

async function skillParts(root: string): Promise<SkillParts> {
  const home = join(root, 'home')
  return {
    workspace: join(root, 'workspace'),
    hawserHome: home,
    userHome: undefined,
    home: await diskFolder(home),
    ids: systemIds(systemClock),
    clock: systemClock,
    redactor: new Redactor([]),
    version: '1',
  }
}

/** A gate that lets one waiter pass for each signal, whether it waits already or later. */
function opened(): (ms: number, signal: AbortSignal) => Promise<void> {
  const gate = { passes: 0, wake: () => {} }
  process.on('SIGUSR2', () => {
    gate.passes += 1
    gate.wake()
  })
  return async (_ms, signal) => {
    const wake = () => gate.wake()
    signal.addEventListener('abort', wake)
    while (gate.passes === 0 && !signal.aborted) {
      await new Promise<void>((resolve) => {
        gate.wake = resolve
      })
    }
    signal.removeEventListener('abort', wake)
    gate.passes -= 1
  }
}
