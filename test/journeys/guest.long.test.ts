import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { playGuest } from '../support/guest-play.ts'
import { value } from '../support/story.ts'

test('a guest in its sandbox runs a command in a second one, and its answer arrives', async () => {
  const { send, ended, workspace, host, output } = await playGuest()
  value(send('m1', 'Run `echo calm > sea.txt; ls -a . .hawser`'))
  const end = await ended('m1')
  expect(end.payload, output()).toMatchObject({ status: 'completed' })
  expect(await readFile(join(workspace, 'sea.txt'), 'utf8')).toBe('calm\n')
  expect((await host.stop()).reason).toBeUndefined()
})
