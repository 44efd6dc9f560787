import { mkdir, readdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest'
import { systemSandbox } from '../../../src/host/sandbox/sandbox.ts'
import { runCli } from '../../support/cli/cli.ts'
import { freshFolder } from '../../support/host/folder.ts'
import { guestProgram, removeGuestProgram } from '../../support/cli/guest-bundle.ts'
import { localServer } from '../../support/http/local-server.ts'
import { startProgram } from '../../support/cli/program.ts'
import { TINY_IMAGES } from '../../support/resources/tiny-images.ts'

const status = await systemSandbox().status()
const canNest = status.isConfined && status.nests === true

beforeAll(async () => void (await guestProgram()))
afterAll(removeGuestProgram)

async function place() {
  const root = await freshFolder()
  await localServer({ root, program: await guestProgram() })
  const hawser = (...argv: readonly string[]) => runCli({ root }, 'instance', ...argv)
  return { root, hawser, workspace: join(root, 'workspace') }
}

test.runIf(canNest)(
  'a message is sent with an image, answered, and read with its picture',
  async () => {
    const { root, hawser, workspace } = await place()
    await writeFile(join(workspace, 'boat.png'), TINY_IMAGES.png)
    const made = await hawser('create', 'painter', '--workspace', '.')
    expect([made.code, made.stderr]).toEqual([0, ''])
    expect(made.stdout).toContain('hawser instance send painter')
    expect(made.stdout).toContain(
      `Its agent writes and runs commands in ${workspace} without asking.`,
    )
    const asked = ['What is in this picture?', '--attach', 'boat.png', '--wait']
    const seen = await hawser('send', 'painter', ...asked)
    expect([seen.code, seen.stderr]).toEqual([0, ''])
    expect(seen.stdout).toContain('@img1 is a PNG picture, 3 by 2 pixels')
    const drawn = await hawser('send', 'painter', 'Attach boat.png', '--wait', '--json')
    expect(JSON.parse(drawn.stdout)).toMatchObject({
      ok: true,
      answer: { type: 'assistant.done', payload: { images: [{ media_type: 'image/png' }] } },
    })
    const shown = await hawser('read', 'painter')
    expect(shown.stdout).toMatch(/> What is in this picture\? \[1 image\]\n/)
    expect(shown.stdout).toMatch(
      /\[image\/png, .*[a-f0-9]{64}\.png; to save it: hawser instance read painter --after \d+ --limit 1 --save \.\]\n$/,
    )
    const [, command = ''] = /to save it: hawser instance (.*)\]/.exec(shown.stdout) ?? []
    const saved = await hawser(...command.split(' '))
    const [, path = ''] = /\[saved: (.*)\]/.exec(saved.stdout) ?? []
    expect((await readFile(path)).equals(TINY_IMAGES.png)).toBe(true)
    expect((await hawser(...command.split(' '))).code).toBe(0)
    await writeFile(path, 'mine')
    expect(await hawser(...command.split(' '))).toMatchObject({ code: 2 })
    const lines = (await hawser('read', 'painter', '--after', '0', '--json')).stdout
      .trim()
      .split('\n')
    const numbers = lines.map((line) => (JSON.parse(line) as { seq: number }).seq)
    expect(numbers).toEqual(numbers.toSorted((a, b) => a - b))
    const kitty = await runCli(
      { root, terminal: true, env: { KITTY_WINDOW_ID: '1' } },
      'instance',
      'read',
      'painter',
      '--limit',
      '1',
    )
    expect(kitty.stdout).toContain('\u001b_Ga=T,f=100')
  },
)

test.runIf(canNest)('an Instance is listed, shown, controlled, mapped and deleted', async () => {
  const { hawser, workspace } = await place()
  expect((await hawser('list')).stdout).toContain('No Instances yet')
  await hawser('create', 'reviewer', '--ceiling', '2.50', '--pause-after', '5')
  const states = []
  for (const act of ['start', 'pause', 'resume', 'stop', 'disable', 'enable'])
    states.push((await hawser(act, 'reviewer')).stdout)
  expect(states).toEqual([
    'The Instance reviewer is running.\n',
    'The Instance reviewer is paused.\n',
    'The Instance reviewer is running.\n',
    'The Instance reviewer is stopped.\n',
    'The Instance reviewer is stopped, and disabled.\n',
    'The Instance reviewer is stopped.\n',
  ])
  expect((await hawser('list')).stdout).toMatch(/reviewer +stopped +0 +\$0\.0000 of \$2\.5 +-\n/)
  expect((await hawser('info', 'reviewer')).stdout).toContain(
    'paused after 5 s, stopped 300 s later',
  )
  expect((await hawser('info', 'reviewer')).stdout).toMatch(
    / records +\/.*\/home\/instances\/(ins_\w+)\/workspace\/\.hawser\/instances\/\1\n/,
  )
  const mapped = await hawser('map', 'reviewer', '.')
  expect(mapped.stdout).toContain(`commands in ${workspace} without asking.`)
  expect(JSON.parse((await hawser('info', 'reviewer', '--json')).stdout)).toMatchObject({
    records: expect.stringContaining(`${workspace}/.hawser/instances/ins_`),
  })
  expect([mapped.code, mapped.stdout]).toEqual([0, expect.stringContaining(`${workspace}\n`)])
  expect((await hawser('map', 'reviewer', '--none')).stdout).toContain('it exchanges no images')
  for (const argv of [[], ['.', '--none'], ['nowhere']])
    expect((await hawser('map', 'reviewer', ...argv)).code).toBeGreaterThan(0)
  const wrong = await hawser('info', 'reviewr')
  expect([wrong.code, wrong.stderr]).toEqual([
    1,
    'hawser: There is no Instance "reviewr". Did you mean reviewer?\nTry: hawser instance list\n',
  ])
  expect(await hawser('delete', 'reviewer')).toMatchObject({ code: 2, stdout: '' })
  expect(await hawser('delete', 'reviewer', '--yes')).toMatchObject({
    code: 0,
    stdout: 'Deleted the Instance reviewer.\n',
  })
})

test.runIf(canNest)('what cannot be sent is refused before anything is stored', async () => {
  const { hawser, workspace, root } = await place()
  await hawser('create', 'plain')
  await hawser('create', 'mapped', '--workspace', 'own')
  await writeFile(join(workspace, 'boat.png'), TINY_IMAGES.png)
  await writeFile(join(workspace, 'text.png'), 'no picture')
  await writeFile(
    join(workspace, 'large.png'),
    Buffer.concat([TINY_IMAGES.png, Buffer.alloc(15e6)]),
  )
  const refusals = [
    ['plain', '--attach', 'boat.png'],
    ['mapped', '--attach', 'text.png'],
    ['mapped', '--attach', 'large.png'],
    ['mapped', '--attach', 'nowhere.png'],
    ['mapped', ...Array.from({ length: 5 }, () => ['--attach', 'boat.png']).flat()],
  ]
  const kinds = []
  for (const argv of refusals) {
    const { stdout } = await hawser('send', ...argv, '--json', 'Look')
    kinds.push((JSON.parse(stdout) as { error: { kind: string } }).error.kind)
  }
  expect(kinds).toEqual([
    'images_require_workspace',
    'unsupported_type',
    'too_large',
    'not_found',
    'too_large',
  ])
  for (const name of ['plain', 'mapped']) expect((await hawser('read', name)).stdout).toBe('')
  const files = await readdir(join(root, 'home/instances'), { recursive: true })
  expect(files.filter((path) => path.endsWith('.png'))).toEqual([])
})

test.runIf(canNest)(
  'reading with --follow shows an answer as it arrives, until Ctrl-C',
  async () => {
    const { root, hawser } = await place()
    await hawser('create', 'writer')
    const reader = await startProgram({ root }, [
      'instance',
      'read',
      'writer',
      '--follow',
      '--after',
      '0',
    ])
    await hawser('send', 'writer', 'What', 'happened?', '--wait')
    await reader.waitFor('> What happened?\n')
    await expect.poll(() => reader.stdout().split('\n').length).toBeGreaterThan(2)
    reader.child.kill('SIGINT')
    expect(await reader.ended).toEqual({ code: 0, signal: null })
  },
)

test.runIf(canNest)(
  'the first command starts the server, and of two that race, one does',
  async () => {
    const root = await freshFolder()
    await mkdir(join(root, 'workspace'))
    onTestFinished(async () => void (await runCli({ root }, 'down')))
    const env = { HAWSER_PROVIDER: 'rehearsal' }
    const start = (...argv: readonly string[]) =>
      startProgram({ root, env, inParts: true }, ['instance', ...argv])
    const both = await Promise.all(['one', 'two'].map((name) => start('create', name)))
    expect(await Promise.all(both.map(({ ended }) => ended))).toEqual([
      { code: 0, signal: null },
      { code: 0, signal: null },
    ])
    const notices = both.map(({ stderr }) => stderr()).filter((text) => text !== '')
    expect(notices).toEqual([
      'hawser: started the local server in the background (to stop it: hawser down)\n',
    ])
    const listed = JSON.parse((await runCli({ root }, 'instance', 'list', '--json')).stdout) as {
      instances: { handle: string }[]
    }
    expect(listed.instances.map(({ handle }) => handle).toSorted()).toEqual(['one', 'two'])
  },
)
