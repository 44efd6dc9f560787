import { expect, onTestFinished, test } from 'vitest'
import { startChild } from '../faults/child.ts'
import { bundleScript } from '../support/bundle-script.ts'
import { freshFolder } from '../support/folder.ts'

test('200 Sessions that every client has left hold no file, and their memory is free again', async () => {
  const root = await freshFolder()
  const script = await bundleScript(
    new URL('../support/idle-sessions-child.ts', import.meta.url),
    await freshFolder(),
  )
  const child = startChild(script, { root, sessions: 200, rounds: 3 })
  onTestFinished(async () => void (await child.kill()))
  const { code, complaint } = await child.ended
  expect([code, complaint]).toEqual([0, ''])
  expect(child.reports.filter(({ what }) => what === 'unproven')).toEqual([])
  const rounds = child.reports.flatMap((one) => (one.what === 'memory' ? [one] : []))
  expect(rounds).toHaveLength(3)
  for (const { before, peak: openSessions, after } of rounds) {
    expect(openSessions).toBe(0)
    expect(after).toBeLessThan(before * 1.1)
  }
})
