import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, expect, test } from 'vitest'
import { systemSandbox } from '../../src/host/sandbox/sandbox.ts'
import { removeGuestProgram } from '../support/guest-bundle.ts'
import { message } from '../support/instances-place.ts'
import { endOf, realInstances } from '../support/real-instances.ts'
import { picture } from '../support/sample-files.ts'
import { value } from '../support/story.ts'

afterAll(removeGuestProgram)

const status = await systemSandbox().status()
const canNest = status.confined && status.nests === true

test.runIf(canNest)('a message with an image wakes an agent, which answers', async () => {
  const { instances, workspace, notes } = await realInstances()
  value(await instances.create({ handle: 'a', workspace }, 'operator'))
  const bytes = picture(3)
  const image = value(await instances.putImage('a', { media_type: 'image/png', bytes }))
  const payload = { text: 'What is in this image?', images: [image] }
  value(await instances.send('a', message('m1', payload)))
  const end = await endOf(instances, 'a', 'm1')
  expect(end, JSON.stringify(notes)).toMatchObject({
    type: 'assistant.done',
    payload: { status: 'completed' },
  })
  expect(value(await instances.info('a'))).toMatchObject({ state: 'running', waiting: 0 })
  const [log = ''] = (await readdir(join(workspace, '.hawser/sessions'))).filter((name) =>
    name.endsWith('.ndjson'),
  )
  expect(await readFile(join(workspace, '.hawser/sessions', log), 'utf8')).toContain('"m1"')
})

test.runIf(canNest)('an agent without a workspace works in its own folder', async () => {
  const { instances, home, notes } = await realInstances()
  const { id } = value(await instances.create({ handle: 'a' }, 'operator'))
  value(await instances.send('a', message('m1', { text: 'Run `echo calm > sea.txt`' })))
  const end = await endOf(instances, 'a', 'm1')
  expect(end, JSON.stringify(notes)).toMatchObject({ payload: { status: 'completed' } })
  expect(await readFile(join(home, 'instances', id, 'workspace/sea.txt'), 'utf8')).toBe('calm\n')
})
