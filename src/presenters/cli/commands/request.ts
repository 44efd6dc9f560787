import * as z from 'zod'
import { failed, type Result } from '../../../model/errors.ts'
import { SessionId, Sha256 } from '../../../model/ids.ts'
import { Count } from '../../../model/shape.ts'
import { answer } from '../world/answer.ts'
import type { Run } from '../world/command.ts'
import type { REQUEST } from '../definitions/sessions.ts'
import { promptOf, type Prompt } from '../input/prompt.ts'
import { skillsIn } from '../../../session/admission/skill-words.ts'
import { openNamed } from '../../../session/workspace/session-reference.ts'
import { visibleText } from '../text/visible-text.ts'
import { inWorkspace } from '../world/workspace.ts'
import type { CliWorld } from '../world/world.ts'

export const Output = z.object({
  ok: z.literal(true),
  session_id: SessionId,
  dialect: z.string().describe('The format of the request, as recorded in the Log.'),
  sha256: Sha256.describe('Of the body.'),
  bytes: Count.describe('Of the body.'),
  body: z.string().describe('The request as it would be sent, byte for byte, in UTF-8.'),
})

const NOT_FETCHED =
  'hawser: context sources are fetched only when a message is sent; the request does not contain them.\n'

/** Prints the request for a prompt. Sends and writes nothing. */
export const run: Run<typeof REQUEST> = async (world, { args: [named], options }) => {
  const { prompt, dialect } = options
  const read = await readPrompt(world, prompt)
  if (!read.ok) return read
  const { text, byHand } = read.value
  return inWorkspace(world, options, async ({ harness }) => {
    const session = await openNamed(harness, named)
    if (!session.ok) return session
    const found = await skillsIn(byHand ? text : '', async () => (await harness.skills()).skills)
    if (!found.ok) return found
    const { skills } = found.value
    const request = await session.value.preview(text, { dialect, skills })
    if (!request.ok) return request
    // Standard output is the request alone.
    const sources = skills.flatMap((skill) => skill.with ?? [])
    if (sources.length > 0) world.streams.stderr.write(NOT_FETCHED)
    const { body, sha256, inputs } = request.value
    const output = {
      session_id: session.value.id,
      dialect: inputs.dialect,
      sha256,
      bytes: body.length,
      body: body.toString('utf8'),
    }
    return answer(world, output, () => bodyText(world, output.body))
  })
}

/** A request needs a prompt: without `--prompt`, it is read from standard input, as in `run`. */
async function readPrompt(world: CliWorld, prompt: string | undefined): Promise<Result<Prompt>> {
  if (prompt !== undefined || !world.streams.stdin.isTTY) {
    return promptOf(world, prompt === undefined ? [] : [prompt])
  }
  return failed(
    'invalid_args',
    'Missing prompt: pass --prompt, or pipe it to standard input.',
    {},
    [{ action: 'Pass a prompt.', command: 'hawser request --prompt "And now?"' }],
  )
}

/** The exact bytes; on a terminal, with control characters escaped. */
function bodyText({ streams: { stdout } }: CliWorld, body: string): string {
  return stdout.isTTY ? `${visibleText(body)}\n` : body
}
