import { existsSync } from 'node:fs'
import { beforeAll, describe, expect, test } from 'vitest'
import * as z from 'zod'
import { systemSandbox } from '../../src/host/sandbox/sandbox.ts'
import { attackAs, USERS } from './as-user.ts'
import { modes } from './mode-ways.ts'

const { confined } = await systemSandbox().status()
const canRun = confined && existsSync('/usr/bin/perl')
const LONGEST_MS = 300_000

const Told = z.object({
  way: z.enum(['sandbox', 'control']),
  name: z.string(),
  said: z.string(),
  setId: z.array(z.string()),
  devices: z.array(z.string()),
  foreign: z.array(z.string()),
  capable: z.string(),
})
type Told = z.infer<typeof Told>

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
  const told = new Map<string, Told>()
  const of = (way: string, name: string): Told => Told.parse(told.get(`${way} ${name}`))

  beforeAll(async () => {
    for (const line of (
      await attackAs(user, new URL('leftovers-child.ts', import.meta.url), every ? 'every' : '')
    )
      .trim()
      .split('\n')) {
      const one = Told.parse(JSON.parse(line))
      told.set(`${one.way} ${one.name}`, one)
    }
  }, LONGEST_MS)

  const ways = (way: string, name: string) =>
    of(way, name)
      .said.trim()
      .split('\n')
      .map((line) => Way.parse(JSON.parse(line)))

  test.each(['modes', 'modes as a guest'])(
    'no call gives a file a set-id bit, and every other mode is set (%s)',
    (name) => {
      expect(of('sandbox', name).setId).toEqual([])
      for (const { way, left, exact, errors } of ways('sandbox', name)) {
        const missing = way === 'openat2' || way === 'chmod_x32'
        const wanted = { left: 0, exact: missing ? 0 : PLAIN, errors: [missing ? ENOSYS : EPERM] }
        // A file that is created with a mode needs no call to set it.
        expect({ way, left, exact: missing ? 0 : exact, errors }).toEqual({ way, ...wanted })
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
      said: expect.stringMatching(/done\n$/),
    })
    const left = of('control', 'programs').setId.join(' ')
    for (const name of ['install-4755', 'chmod-2755', 'moved-6755', 'perl-4000', 'letters', 'su'])
      expect(left).toContain(name)
  })

  test.runIf(process.arch === 'x64')('32-bit system calls kill the process', () => {
    expect(of('sandbox', 'interrupt')).toMatchObject({ setId: [] })
    expect(of('sandbox', 'interrupt').said).toContain('exit 159')
    expect(of('control', 'interrupt')).toMatchObject({ setId: ['victim'], said: 'exit 0\n' })
  })

  test('io_uring is not available', () => {
    expect(of('sandbox', 'uring').said).toBe(String(ENOSYS))
  })

  test('no command leaves devices, capabilities or files of another owner', () => {
    const nothing = { setId: [], devices: [], foreign: [], capable: '' }
    for (const name of ['others', 'others as a guest']) {
      expect(of('sandbox', name)).toMatchObject({ ...nothing, said: '\n' })
    }
  })

  test('without a filter, a command leaves devices, and a guest capabilities', () => {
    expect(of('control', 'others').devices).not.toEqual([])
    expect(of('control', 'others as a guest').capable).not.toBe('')
  })

  test('a set-group-id folder still passes on its group', () => {
    for (const way of ['sandbox', 'control']) {
      expect(of(way, 'inheritance')).toMatchObject({ said: 'done\n', setId: ['shared/sub'] })
    }
  })

  test('every kind of keyring is refused, and without a filter some succeed', () => {
    expect(of('sandbox', 'keyrings').said).toBe(`0 ${EPERM}\n`)
    expect(Number.parseInt(of('control', 'keyrings').said, 10)).toBeGreaterThan(5)
  })
}
