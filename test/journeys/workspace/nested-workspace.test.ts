import { execFileSync } from 'node:child_process'
import { chmod, cp, mkdir, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { sha256 } from '../../../src/encoding/hash.ts'
import { systemClock } from '../../../src/host/clock.ts'
import { systemIds } from '../../../src/host/ids.ts'
import { sealLine } from '../../../src/log/line.ts'
import { SessionId } from '../../../src/model/ids.ts'
import { runCli } from '../../support/cli/cli.ts'
import { freshFolder } from '../../support/host/folder.ts'
import { treeHash } from '../../support/host/tree-hash.ts'
import { logOf } from '../../support/presenters/open-chat.ts'

/** A workspace that contains another one, `pkg`, with a Session. */
async function place() {
  const root = await freshFolder()
  const workspace = join(root, 'workspace')
  const pkg = join(workspace, 'pkg')
  await mkdir(pkg, { recursive: true })
  await runCli({ root }, 'run', '--workspace', pkg, 'Secret words')
  const sessions = join(pkg, '.hawser', 'sessions')
  const log = (await readdir(sessions)).find((name) => name.endsWith('.ndjson')) ?? ''
  return { root, workspace, pkg, log: join('pkg/.hawser/sessions', log) }
}

/** Runs a script as a command of an agent that asks no questions. */
async function asAgent(root: string, script: string, ...args: readonly string[]) {
  await writeFile(join(root, 'workspace', 'script.sh'), script)
  const ran = await runCli({ root }, 'run', '--permission', 'auto', 'Run `sh script.sh`', ...args)
  expect(ran.code).toBe(0)
  const result = (await logOf(root)).findLast(({ type }) => type === 'tool_result')
  return result?.type === 'tool_result' ? result.data : undefined
}

test('a command neither deletes, moves nor reads the Sessions of a workspace inside its own', async () => {
  const { root, pkg, log } = await place()
  const before = await treeHash(pkg)
  const result = await asAgent(
    root,
    `rm -rf pkg/.hawser; mv pkg/.hawser gone; mv pkg away; rm -rf pkg; ln -s /etc pkg/.hawser
     cat ${log}; grep -r Secret pkg; ls -la pkg/.hawser; true`,
  )
  expect(result?.output).not.toContain('Secret words')
  expect(await treeHash(pkg)).toBe(before)
  const found = await runCli({ root }, 'grep', 'Secret', '--workspace', pkg)
  expect(found.stdout).toContain('Secret words')
})

test('a command cannot add settings to the Log of a workspace inside its own', async () => {
  const { root, workspace, pkg, log } = await place()
  const before = await readFile(join(workspace, log))
  await writeFile(join(root, 'line'), settingsLine(before))
  await cp(join(root, 'line'), join(workspace, 'line'))
  await asAgent(root, `cat line >> ${log}; rm line; true`)
  expect((await readFile(join(workspace, log))).equals(before)).toBe(true)
  const next = await runCli({ root }, 'run', '--workspace', pkg, '--continue', 'Hello', '--json')
  expect(next.stdout).not.toContain('"permission_mode":"auto"')
})

test('the read tool refuses the Log of a workspace inside its own', async () => {
  const { root, log } = await place()
  await runCli({ root }, 'run', '--permission', 'auto', `read ${log}`)
  const result = (await logOf(root)).find(({ type }) => type === 'tool_result')
  expect(result?.data).toMatchObject({ outcome: 'failed' })
  expect(JSON.stringify(result)).toContain('reserved for Hawser')
  expect(JSON.stringify(result)).not.toContain('Secret words')
})

const PLANT = `mkdir -p sub/deep; mkdir -m 700 sub/.hawser; echo '{"model":"planted"}' > sub/.hawser/config.json`

test('a `.hawser` that a command creates is moved to a blob and named, and no other command sees it', async () => {
  const { root, workspace } = await place()
  const result = await asAgent(root, PLANT)
  expect(result?.output).toContain('sub/.hawser')
  expect(await readdir(join(workspace, 'sub'))).toEqual(['deep'])
  const blobs = await readdir(join(workspace, '.hawser', 'blobs'), { recursive: true })
  const texts = await Promise.all(
    blobs
      .filter((name) => name.endsWith('.bin'))
      .map((name) => readFile(join(workspace, '.hawser', 'blobs', name), 'utf8')),
  )
  expect(texts).toContain('{"model":"planted"}\n')
})

test('a planted `.hawser` is not taken as the workspace, and its settings are not used', async () => {
  const { root, workspace } = await place()
  await runCli({ root }, 'run', 'Hello')
  execFileSync('sh', ['-c', PLANT], { cwd: workspace })
  for (const folder of ['sub', 'sub/deep']) {
    const ran = await runCli({ root, folder }, 'run', '--json', `Hello from ${folder}`)
    expect(ran.code).toBe(0)
    expect(ran.stdout).not.toContain('planted')
  }
  expect(await readdir(join(workspace, 'sub/.hawser'))).toEqual(['config.json'])
  const shown = await runCli({ root, folder: 'sub' }, 'config', 'get', 'model', '--json')
  expect(shown.stdout).not.toContain('planted')
})

test('a folder with a `.hawser` of unknown origin opens if it is named: its settings wait for trust', async () => {
  const { root, pkg } = await place()
  await runCli({ root }, 'config', 'set', 'model', 'mine', '--here', '--workspace', pkg)
  // The home is lost.
  await rm(join(root, 'home'), { recursive: true })
  const again = () => runCli({ root }, 'run', '--json', '--workspace', pkg, 'Hello')
  const first = await again()
  expect(first.code).toBe(0)
  expect(first.stderr).toContain('was not created by this Hawser home')
  expect(first.stderr).toContain('ignoring untrusted workspace settings: model')
  expect(first.stdout).not.toContain('"model":"mine"')
  const second = await again()
  expect(second.stderr).not.toContain('was not created by this Hawser home')
  expect(second.stderr).toContain('hawser trust')
  expect(second.stdout).not.toContain('"model":"mine"')
  const listed = await runCli({ root }, 'sessions', '--json', '--workspace', pkg)
  expect(listed.stdout).toContain('"foreign":true')
  await runCli({ root }, 'trust', '--yes', '--workspace', pkg)
  const trusted = await runCli({ root }, 'config', 'get', 'model', '--json', '--workspace', pkg)
  expect(trusted.stdout).toContain('"mine"')
})

test('a workspace of an earlier version, without an entry in the register, is found by its heads', async () => {
  const { root } = await place()
  await rm(join(root, 'home', 'workspaces'), { recursive: true })
  await mkdir(join(root, 'workspace/pkg/src'))
  const found = await runCli({ root, folder: 'pkg/src' }, 'grep', 'Secret')
  expect(found.stdout).toContain('Secret words')
  const set = ['config', 'set', 'model', 'mine', '--here']
  await runCli({ root, folder: 'pkg' }, ...set)
  const shown = await runCli({ root, folder: 'pkg/src' }, 'config', 'get', 'model', '--json')
  expect(shown.stdout).toContain('"mine"')
})

test('copied Logs without their lines, or with those of another Session, prove no origin', async () => {
  const { root, workspace, log } = await place()
  await runCli({ root }, 'run', 'Hello')
  const name = log.split('/').at(-1) ?? ''
  await mkdir(join(workspace, 'sub/.hawser/sessions'), { recursive: true })
  await chmod(join(workspace, 'sub/.hawser'), 0o700)
  await writeFile(join(workspace, 'sub/.hawser/sessions', name), 'x\n'.repeat(100_000))
  await writeFile(join(workspace, 'sub/.hawser/config.json'), '{"model":"planted"}')
  const ran = await runCli({ root, folder: 'sub' }, 'run', '--json', 'Hello')
  expect([ran.code, ran.stdout.includes('planted')]).toEqual([0, false])
  expect(await readdir(join(workspace, 'sub/.hawser/sessions'))).toEqual([name])
  // The tests verify every Log that they leave.
  await rm(join(workspace, 'sub/.hawser'), { recursive: true })
})

/** A line that continues the chain of a Log and sets the permission mode. */
function settingsLine(log: Buffer): Buffer {
  const lines = log.toString('utf8').trimEnd().split('\n')
  const last = lines.at(-1) ?? ''
  const { session_id, seq } = JSON.parse(last) as { session_id: string; seq: number }
  const event = {
    id: systemIds(systemClock).event(),
    session_id: SessionId.parse(session_id),
    ts: new Date(0).toISOString(),
    type: 'session_settings',
    data: '{"permission_mode":"auto"}',
  }
  return Buffer.from(sealLine(event, seq + 1, sha256(last), 0).bytes)
}
