import { expect, test } from 'vitest'
import { pausableClock } from './pausable-clock.ts'

/** A clock and an event loop under the control of the test. */
function world() {
  let now = 0
  let timers: { at: number; fire: () => void }[] = []
  const raw = {
    monotonicMs: () => now,
    after: (ms: number, then: () => void) => {
      const timer = { at: now + ms, fire: then }
      timers.push(timer)
      return () => void (timers = timers.filter((one) => one !== timer))
    },
  }
  let immediates: (() => void)[] = []
  const soon = (then: () => void) => {
    immediates.push(then)
    return () => void (immediates = immediates.filter((one) => one !== then))
  }
  const clock = pausableClock(raw, soon)
  /** One round of the event loop: due timers, then what is read, then what was to run soon. */
  const round = (read = () => {}) => {
    const due = timers.filter(({ at }) => at <= now)
    timers = timers.filter(({ at }) => at > now)
    for (const { fire } of due) fire()
    read()
    const ready = immediates
    immediates = []
    for (const then of ready) then()
  }
  const pass = (ms: number, read?: () => void) => {
    now += ms
    round(read)
  }
  return { clock, pass }
}

/** What is read after a pause: how long it was, and that the process was continued, in either order. */
const ORDERS = [
  ['the length, then the signal', ['leaveOut', 'noteContinue']],
  ['the signal, then the length', ['noteContinue', 'leaveOut']],
] as const

test.each(ORDERS)('a due timer leaves out a pause that is reported with %s', (_, order) => {
  const { clock, pass } = world()
  const fired: number[] = []
  clock.after(100, () => fired.push(clock.monotonicMs()))
  pass(60)
  pass(5_000, () => {
    for (const step of order) clock[step](5_000)
  })
  pass(39)
  expect(fired).toEqual([])
  pass(1)
  expect(fired).toEqual([100])
})

test('a second pause is left out like the first', () => {
  const { clock, pass } = world()
  let fired = 0
  clock.after(100, () => (fired += 1))
  for (const [, order] of ORDERS) {
    pass(2_000, () => {
      for (const step of order) clock[step](2_000)
    })
  }
  pass(99)
  expect(fired).toBe(0)
  pass(1)
  expect(fired).toBe(1)
})

test('after a signal, due timers wait for the length, which may be read later', () => {
  const { clock, pass } = world()
  let fired = 0
  clock.after(100, () => (fired += 1))
  pass(5_000, () => clock.noteContinue())
  pass(5)
  pass(5, () => clock.leaveOut(5_000))
  pass(5)
  expect(fired).toBe(0)
  pass(90)
  expect(fired).toBe(1)
})

test('if the length is never reported, due timers fire after a second', () => {
  const { clock, pass } = world()
  let fired = 0
  clock.after(100, () => (fired += 1))
  pass(5_000, () => clock.noteContinue())
  pass(999)
  expect(fired).toBe(0)
  pass(5)
  expect(fired).toBe(1)
})

test('readings leave pauses out', () => {
  const { clock, pass } = world()
  pass(10)
  expect(clock.monotonicMs()).toBe(10)
  pass(7_000, () => clock.leaveOut(7_000))
  expect(clock.monotonicMs()).toBe(10)
  pass(5)
  expect(clock.monotonicMs()).toBe(15)
})

test('a reading before the length is reported never makes a later one smaller, and time continues', () => {
  const { clock, pass } = world()
  pass(7_000, () => {
    expect(clock.monotonicMs()).toBe(7_000)
    clock.leaveOut(7_000)
  })
  expect(clock.monotonicMs()).toBe(7_000)
  pass(5)
  expect(clock.monotonicMs()).toBe(7_005)
})

test('a cancelled timer never fires, even when it is due', () => {
  const { clock, pass } = world()
  let fired = 0
  const cancelEarly = clock.after(100, () => (fired += 1))
  const cancelLate = clock.after(200, () => (fired += 1))
  cancelEarly()
  pass(200, cancelLate)
  pass(200)
  expect(fired).toBe(0)
})
