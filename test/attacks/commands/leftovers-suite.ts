import { existsSync } from 'node:fs'
import { beforeAll, describe, expect, test } from 'vitest'
import * as z from 'zod'
import { systemSandbox } from '../../../src/host/sandbox/sandbox.ts'
import { attackAs, USERS } from '../sandbox/as-user.ts'
import { modes } from './mode-calls.ts'

const { isConfined } = await systemSandbox().status()
const canRun = isConfined && existsSync('/usr/bin/perl')
const LONGEST_MS = 300_000

const Report = z.object({
  way: z.enum(['sandbox', 'control']),
  name: z.string(),
  output: z.string(),
  setId: z.array(z.string()),
  devices: z.array(z.string()),
  foreign: z.array(z.string()),
  capable: z.string(),
})
type Report = z.infer<typeof Report>

const Way = z.object({
  way: z.string(),
  left: z.int(),
  exact: z.int(),
  errors: z.array(z.int()),
})

const [EPERM, ENOSYS] = [1, 38]

/** What commands leave behind, as each user; with every mode, or with enough of them to cover every bit. */
export function leftovers(every: boolean): void {
  describe.skipIf(!canRun).each(USERS)('as %s', (user) => suite(user, every))
}

function suite(user: string, every: boolean): void {
  const PLAIN = modes(every).filter((mode) => (mode & 0o6000) === 0).length
  const SET_ID = modes(every).length - PLAIN
  const reports = new Map<string, Report>()
  const of = (way: string, name: string): Report => Report.parse(reports.get(`${way} ${name}`))

  beforeAll(async () => {
    for (const line of (
      await attackAs(user, new URL('leftovers-child.ts', import.meta.url), every ? 'every' : '')
    )
      .trim()
      .split('\n')) {
      const one = Report.parse(JSON.parse(line))
      reports.set(`${one.way} ${one.name}`, one)
    }
  }, LONGEST_MS)

  const ways = (way: string, name: string) =>
    of(way, name)
      .output.trim()
      .split('\n')
      .map((line) => Way.parse(JSON.parse(line)))

  test.each(['modes', 'modes as a guest'])(
    'no call gives a file a set-id bit, and every other mode is set (%s)',
    (name) => {
      expect(of('sandbox', name).setId).toEqual([])
      for (const { way, left, exact, errors } of ways('sandbox', name)) {
        const missing = way === 'openat2' || way === 'chmod_x32'
        const expected = { left: 0, exact: missing ? 0 : PLAIN, errors: [missing ? ENOSYS : EPERM] }
        // A file that is created with a mode needs no call to set it.
        expect({ way, left, exact: missing ? 0 : exact, errors }).toEqual({ way, ...expected })
      }
    },
  )

  test('without a filter, every one of these calls leaves set-id files', () => {
    for (const { way, left, errors } of ways('control', 'modes')) {
      const known = !(left === 0 && errors.join() === String(ENOSYS))
      expect({ way, left }).toEqual({ way, left: known ? SET_ID : 0 })
    }
    expect(of('control', 'modes').setId.length).toBeGreaterThan(8 * SET_ID)
  })

  test('no program sets a set-id bit on a file, and without a filter they do', () => {
    expect(of('sandbox', 'programs')).toMatchObject({
      setId: [],
      output: expect.stringMatching(/done\n$/),
    })
    const left = of('control', 'programs').setId.join(' ')
    for (const name of ['install-4755', 'chmod-2755', 'moved-6755', 'perl-4000', 'letters', 'su'])
      expect(left).toContain(name)
  })

  test.runIf(process.arch === 'x64')('32-bit system calls kill the process', () => {
    expect(of('sandbox', 'interrupt')).toMatchObject({ setId: [] })
    expect(of('sandbox', 'interrupt').output).toContain('exit 159')
    expect(of('control', 'interrupt')).toMatchObject({ setId: ['victim'], output: 'exit 0\n' })
  })

  test('io_uring is not available', () => {
    expect(of('sandbox', 'uring').output).toBe(String(ENOSYS))
  })

  test('no command leaves devices, capabilities or files of another owner', () => {
    const nothing = { setId: [], devices: [], foreign: [], capable: '' }
    for (const name of ['others', 'others as a guest']) {
      expect(of('sandbox', name)).toMatchObject({ ...nothing, output: '\n' })
    }
  })

  test('without a filter, a command leaves devices, and a guest capabilities', () => {
    expect(of('control', 'others').devices).not.toEqual([])
    expect(of('control', 'others as a guest').capable).not.toBe('')
  })

  test('a set-group-id folder still passes on its group', () => {
    for (const way of ['sandbox', 'control']) {
      expect(of(way, 'inheritance')).toMatchObject({ output: 'done\n', setId: ['shared/sub'] })
    }
  })

  test('every kind of keyring is refused, and without a filter some succeed', () => {
    expect(of('sandbox', 'keyrings').output).toBe(`0 ${EPERM}\n`)
    expect(Number.parseInt(of('control', 'keyrings').output, 10)).toBeGreaterThan(5)
  })
}
