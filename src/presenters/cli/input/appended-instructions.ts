import { isUtf8 } from 'node:buffer'
import { outsideFiles, withOutsideFile } from '../../../host/files/outside-file.ts'
import { failed, ok, type Failed, type Result } from '../../../model/errors.ts'
import { LIMITS } from '../../../model/limits.ts'
import { quote } from '../../../encoding/quote.ts'
import { visibleLine } from '../text/visible-text.ts'
import type { CliWorld } from '../world/world.ts'
import { wholePath } from './whole-path.ts'

/** A longer value, or one of several lines, names no file. */
const LONGEST_PATH = 1_024

/**
 * The texts of `--append-instructions`, in order: `@PATH` is always a file, a value that names an existing file is that file,
 * and any other value is the text itself.
 */
export async function appendedInstructions(
  world: Pick<CliWorld, 'cwd'>,
  values: readonly string[],
): Promise<Result<readonly string[]>> {
  const texts: string[] = []
  for (const value of values) {
    const text = await textOf(world, value)
    if (!text.ok) return text
    texts.push(text.value)
  }
  return ok(texts)
}

async function textOf(world: Pick<CliWorld, 'cwd'>, value: string): Promise<Result<string>> {
  if (value.startsWith('@')) return contentOf(world, value.slice(1))
  if (value.trim() === '')
    return failed('invalid_args', '--append-instructions requires a text or a file.')
  return (await namesFile(world, value)) ? contentOf(world, value) : ok(value)
}

/** Also something else than a file, which is then refused: it is not what the person means as text. */
async function namesFile(world: Pick<CliWorld, 'cwd'>, value: string): Promise<boolean> {
  if (value.length > LONGEST_PATH || /[\n\0]/.test(value)) return false
  const path = wholePath(world, value)
  if (!path.ok) return false
  return outsideFiles.look(path.value).then(
    () => true,
    () => false,
  )
}

async function contentOf(world: Pick<CliWorld, 'cwd'>, named: string): Promise<Result<string>> {
  const path = wholePath(world, named)
  if (!path.ok) return unreadable(named, path)
  const read = await withOutsideFile(outsideFiles, path.value, async (file) =>
    file.size > LIMITS.instructions_text_bytes
      ? failed('too_large', 'It has more than 32 KiB.')
      : file.read(Buffer.alloc(LIMITS.instructions_text_bytes), new AbortController().signal),
  )
  if (!read.ok) return unreadable(named, read)
  if (!isUtf8(read.value)) return unreadable(named, failed('unreadable', 'It is not UTF-8 text.'))
  return ok(read.value.toString('utf8'))
}

/** A bad argument of the command, whatever the reason. */
function unreadable(named: string, { error }: Failed): Failed {
  const message = `Cannot read the instructions ${visibleLine(quote(named))}: ${error.message}`
  return failed('invalid_args', message, { path: named, reason: error.kind }, [
    { action: 'Pass a readable file of at most 32 KiB, or the text itself.' },
  ])
}
