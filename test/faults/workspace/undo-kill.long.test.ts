import { expect, test } from 'vitest'
import { freshFolder } from '../../support/host/folder.ts'
import { runUndoKills } from './undo-kill-runs.ts'

test('after a kill during a command, an undo or a redo, everything can still be undone and redone', async () => {
  const { violations } = await runUndoKills(await freshFolder(), 7, 32)
  expect(violations).toEqual([])
})
