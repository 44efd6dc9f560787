import { execFile } from 'node:child_process'
import { chmod, cp, mkdir, mkdtemp, rm, symlink, writeFile } from 'node:fs/promises'
import { dirname, join, resolve } from 'node:path'
import process from 'node:process'
import { promisify } from 'node:util'
import { afterAll, describe, expect, onTestFinished, test } from 'vitest'
import { systemSandbox, type Confinement } from '../../../src/host/sandbox/sandbox.ts'
import { rootPaths } from '../../../src/model/safety/protected-paths.ts'

/** Ordinary work in the sandbox, with a prepared home: its toolchains must be available inside. */

const REPOSITORY = resolve(import.meta.dirname, '../../..')
const { isConfined } = await systemSandbox().status()
const personsHome = process.env['HOME']
afterAll(() => {
  if (personsHome !== undefined) process.env['HOME'] = personsHome
})

interface Place {
  readonly root: string
  readonly home: string
  readonly workspace: string
  readonly outside: (...command: readonly string[]) => Promise<string>
  readonly inside: (commands: string, how?: Partial<Confinement>) => Promise<string>
}

/** Below /var/tmp, which is empty inside the sandbox, so only mounted paths are visible. */
async function place(path = 'projects/ws', programs = ''): Promise<Place> {
  const root = await mkdtemp('/var/tmp/hawser-work-')
  onTestFinished(() => rm(root, { recursive: true, force: true }))
  const [home, hawserHome] = [join(root, 'home'), join(root, 'hawser')]
  const workspace = join(home, path)
  await mkdir(workspace, { recursive: true })
  await mkdir(hawserHome, { mode: 0o700 })
  await writeFile(
    join(home, '.gitconfig'),
    '[user]\nname = P\nemail = p@example.org\n[init]\ndefaultBranch = main\n[protocol "file"]\nallow = always\n[core]\nhooksPath = ~/hooks\nfsmonitor = ~/monitor\n',
  )
  process.env['HOME'] = home
  const PATH = [programs, process.env['PATH']].join(':')
  const sandbox = systemSandbox({ env: { PATH: PATH.replaceAll('~', home) } })
  return {
    root,
    home,
    workspace,
    outside: async (program = '', ...args) => {
      const options = { cwd: workspace, env: { PATH: process.env['PATH'], HOME: home } }
      return (await promisify(execFile)(program, args, options)).stdout
    },
    inside: async (commands, how = {}) => {
      const chunks: Buffer[] = []
      const base = { workspace, home: hawserHome, writable: 'workspace' as const }
      const run = sandbox.runConfined({ ...base, protectedPaths: rootPaths('asks'), ...how })
      const result = await run({
        argv: ['/bin/bash', '-ec', commands],
        wallMs: 120_000,
        signal: new AbortController().signal,
        onOutput: (chunk) => void chunks.push(chunk),
      })
      const output = Buffer.concat(chunks).toString()
      return result.ok ? `${output}exit ${result.value.code}` : result.error.kind
    },
  }
}

async function script(path: string, text: string): Promise<void> {
  await mkdir(dirname(path), { recursive: true })
  await writeFile(path, `#!/bin/sh\n${text}\n`)
  await chmod(path, 0o755)
}

/** Programs that need sockets: pairs, Unix sockets by path and abstract, names, interfaces, processes of Node. */
const USES_SOCKETS = `
const net = require('node:net'), os = require('node:os'), dns = require('node:dns')
const served = (path) => new Promise((resolve, reject) => {
  const server = net.createServer((socket) => socket.end('x')).listen(path, () => {
    net.connect(server.address().port ?? path).on('error', reject).on('data', () => server.close(resolve))
  }).on('error', reject)
})
const { address } = await dns.promises.lookup('localhost')
const child = require('node:child_process').fork('child.js')
const message = await new Promise((resolve) => child.once('message', resolve))
await Promise.all([served('./s'), served('\\0hawser-work'), served(0)])
console.log(net.isIP(address) > 0, Object.keys(os.networkInterfaces()).includes('lo'), message)
process.exit()
`

describe.runIf(isConfined)('work in the sandbox', () => {
  test('programs that need sockets work: git, npm, names, interfaces, pairs, Unix sockets', async () => {
    const { inside, workspace } = await place()
    await writeFile(join(workspace, 'package.json'), '{"name":"a","version":"1.0.0"}')
    await writeFile(join(workspace, 'child.js'), "process.send('sent')")
    await writeFile(join(workspace, 'sockets.js'), `void (async () => {${USES_SOCKETS}})()`)
    const output = await inside(`
      git init -q; git add package.json; git commit -qm first; git clone -q . copy; git -C copy log --format=%s
      npm --version >/dev/null 2>&1; npm pack --offline --silent 2>/dev/null
      node sockets.js
      perl -MSocket -e 'socketpair(A, B, AF_UNIX, SOCK_STREAM, 0) or die; socket(C, AF_INET6, SOCK_DGRAM, 0) or $!{EAFNOSUPPORT} or die'
      [ ! -x /usr/bin/python3 ] || /usr/bin/python3 -c 'import socket; socket.socketpair(); socket.getaddrinfo("localhost", 80)'
      getent hosts localhost >/dev/null`)
    expect(output).toBe('first\na-1.0.0.tgz\ntrue true sent\nexit 0')
  })

  test('in a linked worktree git shows the state and commits', async () => {
    const { inside, outside, home, workspace } = await place('main')
    await outside('git', 'init', '-q')
    await outside('git', 'commit', '-q', '--allow-empty', '-m', 'first')
    await outside('git', 'worktree', 'add', '-q', join(home, 'linked'))
    const how = { workspace: join(home, 'linked') }
    const output = await inside(
      'git status --short; echo x >f; git add f; git commit -qm second; git log --format=%s:%an; git branch --show-current',
      how,
    )
    expect(output).toBe('second:P\nfirst:P\nlinked\nexit 0')
    expect(await outside('git', 'log', '-1', '--format=%s', 'linked')).toBe('second\n')
    const evil = await inside(
      `cd ${workspace}/.git; (echo "[core] fsmonitor = evil" >>config) 2>&1 || true; (echo evil >hooks/pre-commit) 2>&1 || true; mv hooks h 2>&1 || true; echo ${home} >commondir; echo '[core] fsmonitor = evil' >worktrees/linked/config.worktree`,
      how,
    )
    expect(evil).toContain('Read-only file system')
    expect(await outside('git', 'config', '--list', '--local')).not.toContain('evil')
    expect(await outside('ls', '.git')).not.toContain('commondir')
    expect(await outside('ls', '.git/worktrees/linked')).not.toContain('config.worktree')
  })

  test('a worktree can be added, and a repository that was not linked does not exist', async () => {
    const { inside, outside, home } = await place('main')
    await outside('git', 'init', '-q')
    await outside('git', 'commit', '-q', '--allow-empty', '-m', 'first')
    expect(await inside('git worktree add -q sub/tree; git -C sub/tree log --format=%s')).toBe(
      'first\nexit 0',
    )
    await mkdir(join(home, 'fake'))
    await writeFile(join(home, 'fake/.git'), `gitdir: ${home}/main/.git\n`)
    const output = await inside(`ls ${home}/main 2>&1 || echo hidden`, {
      workspace: join(home, 'fake'),
    })
    expect(output).toContain('hidden')
  })

  test('in a submodule git commits, and a local repository is cloned', async () => {
    const { inside, outside, home, workspace } = await place('main')
    await mkdir(join(home, 'library'))
    await outside('git', 'init', '-q', join(home, 'library'))
    await outside('git', '-C', join(home, 'library'), 'commit', '-q', '--allow-empty', '-m', 'lib')
    await outside('git', 'init', '-q')
    const add = ['-c', 'protocol.file.allow=always', 'submodule', '--quiet', 'add']
    await outside('git', ...add, join(home, 'library'), 'sub')
    const how = { workspace: join(workspace, 'sub') }
    expect(
      await inside('echo x >f; git add f; git commit -qm more; git log --format=%s', how),
    ).toBe('more\nlib\nexit 0')
    const readable = [join(home, 'library')]
    const cloning = `git clone -q ${home}/library clone; git -C clone log --format=%s`
    expect(await inside(cloning, { readable })).toBe('lib\nexit 0')
  })

  test('npm ci installs from a lock file, without a network', async () => {
    const { inside, workspace } = await place()
    const files = {
      'package.json': { name: 'a', version: '1.0.0', dependencies: { b: 'file:b' } },
      'b/package.json': { name: 'b', version: '1.0.0', main: 'main.js' },
      'package-lock.json': {
        name: 'a',
        version: '1.0.0',
        lockfileVersion: 3,
        requires: true,
        packages: {
          '': { name: 'a', version: '1.0.0', dependencies: { b: 'file:b' } },
          b: { version: '1.0.0' },
          'node_modules/b': { resolved: 'b', link: true },
        },
      },
    }
    for (const [name, value] of Object.entries(files)) {
      await mkdir(dirname(join(workspace, name)), { recursive: true })
      await writeFile(join(workspace, name), JSON.stringify(value))
    }
    await writeFile(join(workspace, 'b/main.js'), 'module.exports = "b works"')
    const output = await inside(
      `npm ci --offline --no-audit --no-fund >log 2>&1 || cat log; node -p 'require("b")'`,
    )
    expect(output).toBe('b works\nexit 0')
  })

  test('npx tsx runs a TypeScript file', async () => {
    const { inside, workspace } = await place()
    for (const name of ['tsx', 'esbuild', '@esbuild', 'get-tsconfig', 'resolve-pkg-maps']) {
      const from = join(REPOSITORY, 'node_modules', name)
      await cp(from, join(workspace, 'node_modules', name), { recursive: true }).catch(() => {})
    }
    await mkdir(join(workspace, 'node_modules/.bin'))
    await symlink('../tsx/dist/cli.mjs', join(workspace, 'node_modules/.bin/tsx'))
    await writeFile(join(workspace, 'a.ts'), 'const n: number = 41\nconsole.log(n + 1)\n')
    expect(await inside('npx --no-install tsx a.ts 2>&1 | grep -v "npm warn"')).toBe('42\nexit 0')
  })

  test('cargo of a home finds its toolchain and crates, not its credentials', async () => {
    const { inside, home } = await place('ws', '~/.cargo/bin')
    await script(
      join(home, '.cargo/bin/cargo'),
      'exec "$RUSTUP_HOME/toolchains/stable/bin/cargo" "$@"',
    )
    await script(
      join(home, '.rustup/toolchains/stable/bin/cargo'),
      'cat "$CARGO_HOME/registry/crate"; cat "$CARGO_HOME/credentials.toml"; touch "$CARGO_HOME/x"',
    )
    await mkdir(join(home, '.cargo/registry'))
    await writeFile(join(home, '.cargo/registry/crate'), 'crate\n')
    await writeFile(join(home, '.cargo/credentials.toml'), 'canary\n')
    const output = await inside('cargo build 2>&1 || true')
    expect(output).toContain('crate\n')
    expect(output).not.toContain('canary')
    expect(output).toContain('Read-only file system')
  })

  test('python of a pyenv and of an environment beside it finds its packages', async () => {
    const { inside, home } = await place('ws', '~/.pyenv/shims:~/env/bin')
    const python = join(home, '.pyenv/versions/3.1/bin/python')
    await script(
      join(home, '.pyenv/shims/python3.1'),
      `exec "$PYENV_ROOT/versions/3.1/bin/python" "$@"`,
    )
    await script(python, 'cat "$(dirname "$0")/../lib/site-packages/a.py"')
    await mkdir(join(home, '.pyenv/versions/3.1/lib/site-packages'), { recursive: true })
    await writeFile(join(home, '.pyenv/versions/3.1/lib/site-packages/a.py'), 'from pyenv\n')
    await script(
      join(home, 'env/bin/tool'),
      'cat "$(dirname "$0")/../lib/b.py" "$(dirname "$0")/../pyvenv.cfg"',
    )
    await mkdir(join(home, 'env/lib'))
    await writeFile(join(home, 'env/lib/b.py'), 'from env\n')
    await writeFile(join(home, 'env/pyvenv.cfg'), 'home = x\n')
    expect(await inside('python3.1; tool')).toBe('from pyenv\nfrom env\nhome = x\nexit 0')
    await mkdir(join(home, '.local/lib/python/site'), { recursive: true })
    await writeFile(join(home, '.local/lib/python/site/u.py'), 'of the user\n')
    expect(await inside('cat "$PYTHONUSERBASE/lib/python/site/u.py"')).toBe('of the user\nexit 0')
  })

  test('node of an nvm runs with its own npm', async () => {
    const { inside, home } = await place('ws', '~/.nvm/versions/node/v1/bin')
    const version = join(home, '.nvm/versions/node/v1')
    await mkdir(join(version, 'bin'), { recursive: true })
    await mkdir(join(version, 'lib/npm'), { recursive: true })
    await cp(process.execPath, join(version, 'bin/node1'))
    await writeFile(
      join(version, 'lib/npm/cli.js'),
      '#!/usr/bin/env node1\nconsole.log(process.argv0, process.env.NVM_DIR)\n',
    )
    await chmod(join(version, 'lib/npm/cli.js'), 0o755)
    await symlink('../lib/npm/cli.js', join(version, 'bin/npm1'))
    expect(await inside('npm1')).toBe(`node1 ${home}/.nvm\nexit 0`)
  })

  test('a folder that the person allowed is readable, its credentials are not, unless named', async () => {
    const { inside, home } = await place()
    await mkdir(join(home, 'notes'), { recursive: true })
    await writeFile(join(home, 'notes/a'), 'note\n')
    await mkdir(join(home, '.config/gh'), { recursive: true })
    await writeFile(join(home, '.config/gh/hosts.yml'), 'canary\n')
    await writeFile(join(home, '.config/other'), 'other\n')
    const reading = `cat ${home}/notes/a ${home}/.config/other ${home}/.config/gh/hosts.yml 2>/dev/null || true`
    expect(await inside(reading)).toBe('exit 0')
    expect(await inside(reading, { readable: ['~/notes', '~/.config'] })).toBe(
      'note\nother\nexit 0',
    )
    const named = { readable: ['~/.config', '~/.config/gh'] }
    expect(await inside(reading, named)).toBe('other\ncanary\nexit 0')
    expect(await inside(`touch ${home}/notes/b 2>&1 || true`, { readable: ['~/notes'] })).toContain(
      'Read-only file system',
    )
  })
})
