import { existsSync } from 'node:fs'
import { beforeAll, describe, expect, test } from 'vitest'
import * as z from 'zod'
import { systemSandbox } from '../../../src/host/sandbox/sandbox.ts'
import { attackAs, USERS } from '../sandbox/as-user.ts'

const { isConfined } = await systemSandbox().status()
const canRun = isConfined && existsSync('/usr/bin/perl')
const LONGEST_MS = 120_000

const [ENOSYS, EAFNOSUPPORT] = [38, 97]

const Report = z.object({ way: z.string(), name: z.string(), output: z.string() })
const Answer = z.object({
  way: z.string(),
  family: z.int(),
  protocol: z.int(),
  errors: z.array(z.int()),
})
type Answer = z.infer<typeof Answer>

/** What the filter lets through to the kernel. */
function isAllowed({ way, family, protocol }: Answer): boolean {
  if (way.endsWith('pair')) return family === 1
  return [1, 2, 10].includes(family) || (family === 16 && protocol === 0)
}

/** Answers to calls that must be refused, but are not, or not as the filter does. */
function passed(answers: readonly Answer[]): Answer[] {
  return answers.filter((answer) => {
    const expected = answer.way === 'x32' ? ENOSYS : EAFNOSUPPORT
    const mustFail = answer.way === 'x32' || !isAllowed(answer)
    return mustFail && answer.errors.join() !== String(expected)
  })
}

describe.skipIf(!canRun).each(USERS)('as %s', (user) => {
  const reports = new Map<string, string>()
  beforeAll(async () => {
    const lines = await attackAs(user, new URL('sockets-child.ts', import.meta.url))
    for (const line of lines.trim().split('\n')) {
      const { way, name, output } = Report.parse(JSON.parse(line))
      reports.set(`${way} ${name}`, output)
    }
  }, LONGEST_MS)
  const of = (way: string, name: string) => reports.get(`${way} ${name}`) ?? ''
  const answers = (way: string) =>
    of(way, 'families')
      .trim()
      .split('\n')
      .map((line) => Answer.parse(JSON.parse(line)))

  describe.each(['command', 'network', 'guest'])('a %s', (way) => {
    test('gets no socket of another family, by the C library or by raw calls', () => {
      const given = answers(way)
      expect(passed(given)).toEqual([])
      expect(given.length).toBeGreaterThan(2_000)
    })

    test('gets from the kernel what it would get without a filter, for allowed families', () => {
      // Root of its own namespace, as a guest is here, may open raw sockets too.
      const opened = (from: string) =>
        answers(from).filter((answer) => isAllowed(answer) && answer.errors.includes(0))
      const keys = (from: string) =>
        opened(from).map(({ way: by, family, protocol }) => `${by} ${family} ${protocol}`)
      for (const key of keys('control')) expect(keys(way)).toContain(key)
      expect(keys(way)).toEqual(
        expect.arrayContaining(['libc 1 0', 'libc 2 0', 'raw 2 6', 'libc 16 0', 'raw_pair 1 0']),
      )
    })

    test('has no io_uring, with which a socket needs no call that a filter sees', () => {
      expect(of(way, 'rings')).toBe([ENOSYS, ENOSYS, ENOSYS].join())
    })

    test.runIf(process.arch === 'x64')('is killed by 32-bit calls for sockets', () => {
      const killed = ['socket 159', 'socketpair 159', 'socketcall 159']
      expect(of(way, 'interrupts').match(/^socket\w* \d+$/gm)).toEqual(killed)
    })

    test('passes the program of the self-test', () => {
      expect(of(way, 'selfTest')).toBe('0\n')
    })
  })

  test('without the rules, the corpus and the self-test find sockets of other families', () => {
    const found = passed(answers('control'))
    expect(found.filter(({ errors }) => errors.includes(0)).map(({ way }) => way)).toContain('raw')
    expect(found.length).toBeGreaterThan(50)
    expect(of('control', 'selfTest')).toMatch(/^[13]\n$/)
  })

  test.runIf(process.arch === 'x64')('without a filter, 32-bit calls are answered', () => {
    expect(of('control', 'interrupts')).toBe('socket 0\nsocketpair 0\nsocketcall 0\n')
  })
})
