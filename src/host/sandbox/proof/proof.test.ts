import { spawn } from 'node:child_process'
import { readdirSync, readFileSync } from 'node:fs'
import { mkdtemp, readdir, rm } from 'node:fs/promises'
import process from 'node:process'
import { expect, onTestFinished, test } from 'vitest'
import { bundleScript } from '../../../../test/support/host/bundle-script.ts'
import { freshFolder } from '../../../../test/support/host/folder.ts'
import { kinOf, parseStat, type ListedProcess } from '../../process/kin.ts'
import { systemSandbox } from '../sandbox.ts'

const { isConfined } = await systemSandbox().status()

test.skipIf(!isConfined).each(['cat', 'bwrap'])(
  'killed in the self-test while %s runs, a process leaves no child running, and the next process removes its folders',
  async (program) => {
    const script = await bundleScript(
      new URL('../../../../test/attacks/sandbox/sandbox-child.ts', import.meta.url),
      await freshFolder(),
    )
    // Sockets in it need a short path.
    const temporary = await mkdtemp('/tmp/hp-')
    onTestFinished(() => rm(temporary, { recursive: true, force: true }))
    const start = () =>
      spawn(process.execPath, [script, temporary, 'prove'], {
        env: { ...process.env, TMPDIR: temporary },
        stdio: ['ignore', 'pipe', 'inherit'],
      })
    const child = start()
    onTestFinished(() => void child.kill('SIGKILL'))
    const kin = await kinWith(child.pid ?? 0, program, temporary)
    child.kill('SIGKILL')
    while (kin.some(isRunning)) await turn()
    expect(await readdir(temporary)).not.toEqual([])
    const next = start()
    const closed = new Promise((resolve) => void next.once('close', resolve))
    expect(JSON.parse(await textOf(next.stdout))).toMatchObject({ isConfined: true })
    await closed
    expect(await readdir(temporary)).toEqual([])
  },
)

/** The descendants of a process, once a program with that name is among them and the self-test has made its folders. */
async function kinWith(
  leader: number,
  program: string,
  temporary: string,
): Promise<readonly ListedProcess[]> {
  for (;;) {
    const kin = kinOf(leader, readdirSync('/proc').flatMap(listed))
    if (!kin.some(({ pid }) => pid === leader)) throw new Error('the process ended too early')
    const made = readdirSync(temporary).length > 0
    // bubblewrap also runs earlier, to print its version.
    if (made && kin.some(({ pid }) => nameOf(pid) === program)) return kin
    await turn()
  }
}

function listed(pid: string): ListedProcess[] {
  const found = /^\d+$/.test(pid) ? parseStat(read(`/proc/${pid}/stat`)) : undefined
  return found === undefined ? [] : [found]
}

function isRunning({ pid, since }: ListedProcess): boolean {
  return listed(String(pid)).some((one) => one.since === since)
}

function nameOf(pid: number): string {
  return read(`/proc/${pid}/comm`).trim()
}

function read(path: string): string {
  try {
    return readFileSync(path, 'latin1')
  } catch {
    return ''
  }
}

function turn(): Promise<void> {
  return new Promise((resolve) => void setImmediate(resolve))
}

async function textOf(stream: NodeJS.ReadableStream): Promise<string> {
  let text = ''
  for await (const chunk of stream) text += String(chunk)
  return text
}
