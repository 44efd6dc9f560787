import { sha256 } from '../../../src/encoding/hash.ts'
import type { EventData, EventDraft } from '../../../src/model/events/event.ts'
import type { PersonCommand } from '../../../src/model/events/tool-events.ts'
import type { MentionedPath } from '../../../src/model/events/turn-events.ts'
import { BlobKey } from '../../../src/model/ids.ts'
import type { Random } from '../host/random.ts'

/**
 * What a message brings besides its text and attachments: mentions, whose content is added to `blobs`, and the commands since
 * the last one, which are used up.
 */
export function generatedBrought(
  chance: Random,
  blobs: Map<string, Buffer>,
  commands: PersonCommand[],
): Partial<EventData<'user_message'>> {
  const count = chance.below(10) < 3 ? 1 + chance.below(2) : 0
  const mentions = Array.from({ length: count }, () => {
    const content = chance.below(10) === 0 ? '' : `content ${chance.below(1_000_000)}\n`
    const { mention, bytes } = generatedMention(chance, content)
    blobs.set(mention.blob, bytes)
    return mention
  })
  const error = { path: 'a.bin', code: 'unsupported_type', reason: 'it is binary data' } as const
  const shell = commands.splice(0)
  return {
    ...(count === 0 ? {} : { mentions }),
    ...(chance.below(10) === 0 ? { mention_errors: [error] } : {}),
    ...(shell.length === 0 ? {} : { shell }),
    ...(chance.below(20) === 0 ? { shell_omitted: 2 } : {}),
  }
}

/** A mention with this content, and the bytes of its blob. */
function generatedMention(
  chance: Random,
  content: string,
): { readonly mention: MentionedPath; readonly bytes: Buffer } {
  const bytes = Buffer.from(content)
  const content_sha256 = sha256(bytes)
  const path = chance.pick(['src/a.ts', 'Makefile', 'src'])
  const mention = {
    path,
    kind: path === 'src' ? 'folder' : 'file',
    content_sha256,
    blob: BlobKey.parse(`${content_sha256}.txt`),
    bytes: bytes.length,
    ...(content === '' ? { lines: 0 } : { from_line: 1, to_line: 1, lines: 1 }),
  } as const
  return { mention, bytes }
}

/** At times a command of the person, and at times Hawser stops before it ends. Adds to `commands` how the next message shows it. */
export function generatedCommand(chance: Random, commands: PersonCommand[]): readonly EventDraft[] {
  if (chance.below(5) > 0) return []
  const id = chance.below(1_000_000)
  const command_id = `cmd ${id}`
  const command = `command ${id}`
  const started = { type: 'shell_command', data: { command_id, command } } as const
  if (chance.below(5) === 0) {
    commands.push({ command, outcome: 'unknown', output: '' })
    return [started]
  }
  const ended = { outcome: 'ok', output: `output ${id}\n`, exit_code: 0 } as const
  commands.push({ command, ...ended })
  return [started, { type: 'shell_result', data: { command_id, ...ended, duration_ms: 1 } }]
}
