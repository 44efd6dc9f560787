import { mkdir, readdir, readFile, readlink, rm, symlink, writeFile } from 'node:fs/promises'
import { basename, dirname, join } from 'node:path'
import { liesIn } from '../../../src/host/files/confined-path.ts'
import { firstOf, type Attack } from './attack.ts'
import { CANARY, type Ground, type Scene } from './sandbox-scene.ts'

/** Files outside, git, protected paths, folders: what can be written, and the effects. */
export const FILE_ATTACKS: readonly Attack[] = [
  ...outsideWrites(),
  ...folderEscapes(),
  ...gitAttacks(),
  ...protectedAttacks(),
  ...placesOfWorkspaces(),
]

/** Each tries to change `outside`, in ways that no list of forbidden words covers. */
function outsideWrites(): Attack[] {
  const scripts: Readonly<Record<string, string>> = {
    'by its path': 'echo evil >OUT/target; echo evil >>OUT/target; touch OUT/new',
    'through a link in the workspace': 'ln -s OUT l; echo evil >l/target; echo evil >l/new',
    'by a hard link': 'ln OUT/target h && echo evil >h; cp -l OUT/target h2 && echo evil >h2',
    'by rename': 'mv OUT/target . ; mv note OUT/target; mv -T OUT ./taken',
    'by removing it': 'cd /; rm -rf OUT; rm -rf OUT/*; find OUT -delete',
    'by changing its mode, owner and times':
      'chmod 777 OUT/target; chown 1:1 OUT/target; touch OUT/target',
    'with $IFS and no spaces': 'cat${IFS}note>OUT/new;{tee,OUT/target}<note',
    'by sed, find and awk': `sed -n 's/a/touch OUT\\/new/e' note; find . -exec touch OUT/new \\; ; awk 'BEGIN{print "evil" > "OUT/target"}'`,
    'by a pager and an editor that another program starts':
      'export PAGER="touch OUT/new" GIT_PAGER="touch OUT/new" EDITOR="touch OUT/new"; git log; git commit --allow-empty',
    'after fifty other commands': `${'true; '.repeat(51)} touch OUT/new`,
    'with a carriage return and a non-breaking space':
      'true\rtouch OUT/new\n\u00a0touch OUT/new\ntouch OUT/new',
    'in the home of the person':
      'echo evil >>~/.bashrc; echo evil >>PERSON/.bashrc; ln -sf /x PERSON/.profile',
    'through /proc':
      'echo evil >/proc/self/root/OUT/target; echo evil >/proc/1/root/OUT/target; echo evil >/proc/self/cwd/../outside/target',
    'by opening the folder above':
      'exec 7<..; echo evil >/proc/self/fd/7/outside/target; cd ../outside && touch new',
  }
  return Object.entries(scripts).map(([how, script]): Attack => ({
    row: 24,
    name: `change a file outside ${how}`,
    run: async (scene) => {
      await scene.restore()
      const ground = await scene.workspace()
      const filled = script
        .replaceAll('OUT', scene.outside)
        .replaceAll('PERSON', join(scene.root, 'person'))
      await ground.sh(filled)
      return changedOutside(scene)
    },
  }))
}

async function changedOutside(scene: Scene): Promise<string | undefined> {
  const target = await readFile(join(scene.outside, 'target'), 'utf8').catch(() => 'gone')
  const names = await readdir(scene.outside).catch((): string[] => [])
  const person = await readdir(join(scene.root, 'person'))
  const bashrc = await readFile(join(scene.root, 'person/.bashrc'), 'utf8')
  return firstOf({
    'the file outside changed': target !== 'untouched\n',
    [`outside contains ${names.join(' ')}`]: names.length !== 2 || !names.includes('agent.sock'),
    'the home of the person changed': bashrc !== 'untouched\n' || person.includes('.profile'),
  })
}

function folderEscapes(): Attack[] {
  const folders: Readonly<Record<string, readonly [string, string]>> = {
    '/': ['/', 'outside_workspace'],
    'the folder above': ['..', 'outside_workspace'],
    'a path that climbs out': ['a/../../outside', 'outside_workspace'],
    'an absolute path outside': ['OUT', 'outside_workspace'],
    'a sibling that begins like the workspace': ['WS-evil', 'outside_workspace'],
    'a link that leads out': ['leads-out', 'outside_workspace'],
    'a link to a link that leads out': ['leads-on', 'outside_workspace'],
    'a folder behind a link that leads out': ['leads-above/outside', 'outside_workspace'],
    'the home of the person': ['~', 'outside_workspace'],
    'a path with a NUL': ['a\0b', 'invalid_args'],
    'no name at all': ['', 'invalid_args'],
    'a file': ['note', 'not_regular_file'],
    'a missing path': ['nowhere', 'not_found'],
    '.hawser': ['.hawser', 'protected_path'],
    '.hawser by way of a link': ['to-hawser', 'protected_path'],
  }
  const escapes = Object.entries(folders).map(([what, [folder, kind]]): Attack => ({
    row: 25,
    name: `run in ${what}`,
    run: async (scene) => {
      const ground = await linkedGround(scene)
      const filled = folder.replaceAll('OUT', scene.outside).replaceAll('WS', ground.path)
      const { result, output } = await ground.sh('pwd', { folder: filled })
      const got = result.ok ? `it ran in ${output}` : result.error.kind
      return got === kind ? undefined : `${got} instead of ${kind}`
    },
  }))
  return [
    ...escapes,
    {
      row: 0,
      name: 'run in a folder of the workspace, also by way of a link that stays in it',
      run: async (scene) => {
        const ground = await linkedGround(scene)
        const { output } = await ground.sh('pwd', { folder: 'stays' })
        const { output: absolute } = await ground.sh('pwd', { folder: join(ground.path, 'deep') })
        const expected = [`${ground.path}/deep/er\n`, `${ground.path}/deep\n`]
        return output + absolute === expected.join('')
          ? undefined
          : `it ran in ${output}${absolute}`
      },
    },
  ]
}

async function linkedGround(scene: Scene): Promise<Ground> {
  const ground = await scene.workspace()
  await mkdir(`${ground.path}-evil`)
  const links = {
    'leads-out': scene.outside,
    'leads-on': 'leads-out',
    'leads-above': '..',
    stays: 'deep/er',
    'to-hawser': '.hawser',
  }
  for (const [name, target] of Object.entries(links)) await symlink(target, join(ground.path, name))
  return ground
}

function gitAttacks(): Attack[] {
  const scripts: Readonly<Record<string, string>> = {
    'write .git/config': 'echo "[core] fsmonitor = evil" >>.git/config',
    'replace .git/config':
      'echo evil >c; mv -f c .git/config; cp c .git/config; rm -f .git/config; echo evil >.git/config',
    'set it by git': 'git config core.fsmonitor evil; git config --local core.hooksPath /tmp/evil',
    'add a hook':
      'echo evil >.git/hooks/post-commit; mkdir -p .git/hooks; cp note .git/hooks/pre-commit',
    'move hooks away and make others':
      'mv .git/hooks .git/h; mkdir .git/hooks; echo evil >.git/hooks/pre-commit',
    'move .git away and make another':
      'mv .git .g; mkdir -p .git/hooks; echo evil >.git/config; echo evil >.git/hooks/pre-commit',
    'remove .git and create it again': 'rm -rf .git; git init -q; git config core.fsmonitor evil',
    'put a link in the place of .git':
      'mkdir -p g/hooks; echo evil >g/config; rm -rf .git; ln -sfn g .git; ln -sfT g .git',
  }
  return [
    ...Object.entries(scripts).map(([what, script]): Attack => ({
      row: 23,
      name: what,
      run: async (scene) => {
        const ground = await scene.workspace()
        await ground.sh(script)
        const config = await ground.read('.git/config')
        const hooks = await readdir(join(ground.path, '.git/hooks'))
        return firstOf({
          [`.git/config is ${config}`]: config?.includes('evil') !== false,
          [`.git/hooks has ${hooks.join(' ')}`]: hooks.join(' ') !== 'post-commit.sample',
        })
      },
    })),
    ...['commondir', 'config.worktree'].map((name): Attack => ({
      row: 23,
      name: `lead git elsewhere by .git/${name}`,
      run: async (scene) => {
        const ground = await scene.workspace()
        const { appeared } = await ground.sh(`echo evil >.git/${name}`)
        return firstOf({
          'it stayed': (await ground.read(`.git/${name}`)) !== undefined,
          'it was not reported': appeared.join(' ') !== `.git/${name}`,
          'it was not kept': ground.kept.get(`.git/${name}`) !== 'evil\n',
        })
      },
    })),
    {
      row: 0,
      name: 'commit with git',
      run: async (scene) => {
        const ground = await scene.workspace()
        await rm(join(ground.path, 'deep'), { recursive: true })
        const { output, code, appeared } = await ground.sh(
          'git add note && git commit -qm first && git log --format=%s:%an',
        )
        if (output.includes('git: command not found')) return undefined
        return code === 0 && output === 'first:P\n' && appeared.length === 0 ? undefined : output
      },
    },
  ]
}

function protectedAttacks(): Attack[] {
  const appearing: Readonly<Record<string, readonly [string, Readonly<Record<string, string>>]>> = {
    'a file': ['echo evil >.mcp.json', { '.mcp.json': 'evil\n' }],
    'a folder': [
      'mkdir -p .vscode/a; echo evil >.vscode/tasks.json; echo more >.vscode/a/b',
      { '.vscode/tasks.json': 'evil\n', '.vscode/a/b': 'more\n' },
    ],
    'another spelling': [
      'echo evil >agents.MD; mkdir .VSCode; echo evil >.VSCode/x; echo evil >.mcp.json.',
      { 'agents.MD': 'evil\n', '.VSCode/x': 'evil\n', '.mcp.json.': 'evil\n' },
    ],
    'a link': ['ln -s /etc/passwd .mcp.json', { '.mcp.json': '/etc/passwd' }],
    'a link to a folder outside': ['ln -s OUT .vscode', { '.vscode': 'OUT' }],
    'a pipe without a writer': ['mkfifo .mcp.json', { '.mcp.json': '' }],
    'an unreadable file': ['echo evil >.mcp.json; chmod 0 .mcp.json', {}],
    'a file by rename, at the last moment': [
      'echo evil >x; trap "mv x .mcp.json" EXIT',
      { '.mcp.json': 'evil\n' },
    ],
    'a file, by a process that keeps running': [
      '( while :; do echo evil 2>/dev/null >.mcp.json; done ) & while ! [ -s .mcp.json ]; do :; done',
      {},
    ],
  }
  return [
    ...Object.entries(appearing).map(([what, [script, kept]]): Attack => ({
      row: 26,
      name: `make ${what} at a protected path`,
      run: async (scene) => {
        const ground = await scene.workspace()
        const fill = (text: string) => text.replaceAll('OUT', scene.outside)
        const { appeared } = await ground.sh(fill(script))
        const expected = Object.entries(kept).map(([name, content]) => [name, fill(content)])
        const names = await readdir(ground.path)
        const standing = names.filter(
          (name) => /^\.(mcp|vscode)|^agents\.MD$/i.test(name) && name !== 'AGENTS.md',
        )
        return firstOf({
          [`${standing.join(' ')} stayed`]: standing.length > 0,
          'nothing was reported': appeared.length === 0,
          'it was not kept': expected.some(
            ([name = '', content]) => ground.kept.get(name) !== content,
          ),
          'the file outside changed': (await changedOutside(scene)) !== undefined,
        })
      },
    })),
    {
      row: 26,
      name: 'change what stands at a protected path',
      run: async (scene) => {
        const ground = await scene.workspace()
        await ground.sh(
          `echo evil >AGENTS.md; rm -f AGENTS.md; mv AGENTS.md a; echo evil >b; mv -f b AGENTS.md; ln -f AGENTS.md c; echo evil >c
           mv deep d; mkdir -p deep/er; echo evil >deep/er/file; mv deep/er deep/e; rm -rf deep`,
        )
        return firstOf({
          'AGENTS.md changed': (await ground.read('AGENTS.md')) !== 'Be good.\n',
          'deep/er/file changed': (await ground.read('deep/er/file')) !== 'kept\n',
        })
      },
    },
    {
      row: 26,
      name: 'change what a protected link leads to, or the link',
      run: async (scene) => {
        const ground = await scene.workspace()
        await mkdir(join(ground.path, 'docs'))
        await writeFile(join(ground.path, 'docs/guide.md'), 'good\n')
        await symlink('docs/guide.md', join(ground.path, 'CLAUDE.md'))
        const { appeared } = await ground.sh(
          'echo evil >CLAUDE.md; echo evil >docs/guide.md; mv docs d; rm CLAUDE.md; echo evil >CLAUDE.md',
        )
        return firstOf({
          'the file changed': (await ground.read('docs/guide.md')) !== 'good\n',
          'the link changed':
            (await readlink(join(ground.path, 'CLAUDE.md')).catch(() => '')) !== 'docs/guide.md',
          'it was not reported': appeared.join(' ') !== 'CLAUDE.md',
        })
      },
    },
    {
      row: 26,
      name: 'see or change .hawser',
      run: async (scene) => {
        const ground = await scene.workspace()
        const { output } = await ground.sh(
          `cat .hawser/sessions/log; ls -A .hawser; echo evil >.hawser/config.json; mkdir -p .hawser/sessions; mv .hawser h; rm -rf .hawser
           ln -s .hawser l; cat l/sessions/log; tar c . | grep -c ${CANARY}; mkdir .Hawser; echo evil >.Hawser/config.json`,
        )
        return firstOf({
          'it saw inside': output.includes(CANARY) || /^[1-9]\d*$/m.test(output),
          'it wrote': (await ground.read('.hawser/config.json')) !== undefined,
          'the Log changed': (await ground.read('.hawser/sessions/log')) !== CANARY,
          'another spelling stayed': (await ground.read('.Hawser/config.json')) !== undefined,
        })
      },
    },
    {
      row: 26,
      name: 'make .hawser where there is none',
      run: async (scene) => {
        const ground = await scene.workspace()
        await rm(join(ground.path, '.hawser'), { recursive: true })
        const { appeared } = await ground.sh('mkdir .hawser; echo evil >.hawser/config.json')
        return firstOf({
          'it stayed': (await ground.read('.hawser/config.json')) !== undefined,
          'it was not reported': appeared.join(' ') !== '.hawser',
        })
      },
    },
    {
      row: 26,
      name: 'run where .hawser is a link',
      run: async (scene) => {
        const ground = await scene.workspace()
        await rm(join(ground.path, '.hawser'), { recursive: true })
        await symlink(scene.outside, join(ground.path, '.hawser'))
        const { result } = await ground.sh('true')
        // Nothing runs in a workspace around this one either.
        await rm(join(ground.path, '.hawser'))
        return !result.ok && result.error.kind === 'protected_path' ? undefined : 'it ran'
      },
    },
    {
      row: 26,
      name: 'write anything when nothing is writable',
      run: async (scene) => {
        const ground = await scene.workspace()
        const before = await readdir(ground.path, { recursive: true })
        const { output } = await ground.sh(
          'touch new; echo evil >note; rm -rf deep; cat .hawser/sessions/log; touch .git/x',
          {},
          { writable: 'nothing' },
        )
        return firstOf({
          'the workspace changed':
            (await readdir(ground.path, { recursive: true })).join() !== before.join() ||
            (await ground.read('note')) !== 'a\n',
          'it saw .hawser': output.includes(CANARY),
        })
      },
    },
  ]
}

/** Wherever a workspace is, it is present and writable, and what is hidden stays hidden. */
function placesOfWorkspaces(): Attack[] {
  const places: Readonly<Record<string, (scene: Scene) => string>> = {
    'below /tmp': (scene) => join('/tmp', basename(scene.root), 'ws'),
    'below /var/tmp': (scene) => join('/var/tmp', basename(scene.root), 'ws'),
    'below /dev/shm': (scene) => join('/dev/shm', basename(scene.root), 'ws'),
    'below the home of the person': (scene) => join(scene.root, 'person', 'projects', 'ws'),
    'in the home of the person itself': (scene) => join(scene.root, 'person'),
    'below $HAWSER_HOME': (scene) => join(scene.hawserHome, 'instances', 'one', 'ws'),
    'above $HAWSER_HOME': (scene) => scene.root,
  }
  return Object.entries(places).map(([where, at]): Attack => ({
    row: 0,
    name: `work in a workspace ${where}`,
    run: async (scene) => {
      const ground = await scene.workspace(at(scene))
      const { output, code } = await ground.sh(
        `pwd; echo fine >made && cat made; grep -rs ${CANARY} ${scene.hawserHome}/config.json ${scene.root}/person .hawser`,
      )
      const made = await ground.read('made')
      const left = ['made', '.git', '.hawser', 'AGENTS.md', 'deep', 'note']
      for (const name of left) await rm(join(ground.path, name), { recursive: true, force: true })
      if (!liesIn(ground.path, scene.root)) await rm(dirname(ground.path), { recursive: true })
      return firstOf({
        [`it printed ${output}`]: output !== `${ground.path}\nfine\n`,
        [`it ended with ${code}`]: made !== 'fine\n',
      })
    },
  }))
}
