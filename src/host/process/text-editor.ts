import { spawn } from 'node:child_process'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { failed, ok, type Result } from '../../model/errors.ts'
import { asHostResult } from '../files/files.ts'
import { scratchFolder } from '../files/scratch-folder.ts'

type Env = Readonly<Record<string, string | undefined>>

/** A draft that an editor returns may not be larger. */
const MOST_CHARACTERS = 8 * 1024 * 1024

/**
 * Lets the person edit a text in `$VISUAL`, else `$EDITOR`, and returns it. The editor has the terminal meanwhile: nothing else
 * may read from it or write to it. The setting is a command line of the person, so a shell runs it, with the environment of the
 * person. An editor that fails changes nothing.
 */
export async function editInEditor(text: string, env: Env): Promise<Result<string>> {
  const editor = [env['VISUAL'], env['EDITOR']].find((one) => one !== undefined && one !== '')
  if (editor === undefined)
    return failed('invalid_args', 'No editor is set: VISUAL and EDITOR are empty.', {}, [
      { action: 'Set one and start Hawser again.', command: 'export EDITOR=nano' },
    ])
  const folder = await scratchFolder()
  if (!folder.ok) return folder
  const { path, write, remove } = folder.value
  try {
    const stored = await write(NAME, text)
    if (!stored.ok) return stored
    const code = await exitOf(editor, join(path, NAME), env)
    if (code !== 0) return failed('refused', `The editor failed (${editor}: ${code}).`, { code })
    return await asHostResult('read the edited text', async () => {
      const edited = await readFile(join(path, NAME), 'utf8')
      if (edited.length > MOST_CHARACTERS)
        return failed('invalid_args', 'The edited text is too long.')
      return ok(edited.replace(/\n$/, ''))
    })
  } finally {
    await remove()
  }
}

const NAME = 'message.md'

function exitOf(editor: string, file: string, env: Env): Promise<number | string> {
  const child = spawn('/bin/sh', ['-c', `exec ${editor} "$1"`, 'sh', file], {
    stdio: 'inherit',
    env: { ...env },
  })
  return new Promise((resolve) => {
    child.once('error', ({ message }) => resolve(message))
    child.once('exit', (code, signal) => resolve(code ?? signal ?? 1))
  })
}
