import { mkdir } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { whyNoSmallDisk } from '../../faults/disk/full-disk-runs.ts'
import { freshFolder } from '../../support/host/folder.ts'
import { startProgram } from '../../support/cli/program.ts'

const noDisk = await whyNoSmallDisk()

/** A command prefix that runs a program with `heads` on a separate, full disk. */
function onFullDisk(heads: string): readonly string[] {
  const rootless = process.geteuid?.() === 0 ? [] : ['--map-root-user']
  const script =
    'cp -a "$0" "$0.copy" && mount -t tmpfs -o size=64k,mode=700 tmpfs "$0" && cp -a "$0.copy/." "$0" && ' +
    '{ head -c 100000 /dev/zero > "$0/fill" 2>/dev/null; rm -r "$0.copy"; exec "$@"; }'
  return ['unshare', '--mount', ...rootless, 'sh', '-c', script, heads]
}

test.skipIf(noDisk !== undefined).each([
  ['words', []],
  ['JSON', ['--json']],
] as const)(
  'with a full disk for heads the program answers, reports in %s what could not be written, and the Session continues',
  async (_form, options) => {
    const root = await freshFolder()
    await mkdir(join(root, 'workspace'))
    const program = async (argv: readonly string[], under: readonly string[] = []) => {
      const started = await startProgram({ root, under }, argv)
      const { code } = await started.ended
      return { code, text: `${started.stdout()}${started.stderr()}` }
    }
    const ask = ['run', 'What is 2 + 2?', '--provider', 'rehearsal']
    expect((await program(ask)).code).toBe(0)
    const heads = join(root, 'home', 'heads')
    const full = await program([...ask, '--continue', ...options], onFullDisk(heads))
    expect(full).toEqual({
      code: 0,
      text: expect.stringContaining(`Free space in ${heads}`) as string,
    })
    const after = await program([...ask, '--continue'])
    expect([after.code, after.text.includes('Free space')]).toEqual([0, false])
    expect((await program(['log', 'verify', 'latest', '--requests'])).code).toBe(0)
  },
)
