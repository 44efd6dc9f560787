import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { freshFolder } from '../../../../test/support/host/folder.ts'
import { gitHome } from './home.ts'
import { parsedSettings, passedSettings, settingsText } from './settings.ts'

test('parses configuration as git does', () => {
  const text = `[user]
\tname = "A \\"B\\" C" ; comment
  email = a@b # comment
[Alias] st = status
[url "https://x/\\"y\\""]
  insteadOf = a \\
b
[color.UI]
  plain
[broken
`
  expect(parsedSettings(text)).toEqual([
    { section: 'user', key: 'name', value: 'A "B" C' },
    { section: 'user', key: 'email', value: 'a@b' },
    { section: 'alias', key: 'st', value: 'status' },
    { section: 'url', subsection: 'https://x/"y"', key: 'insteadof', value: 'a b' },
    { section: 'color', subsection: 'ui', key: 'plain', value: 'true' },
  ])
})

test('written settings parse back to the same values', () => {
  const settings = [
    { section: 'user', key: 'name', value: 'A "B"\\\n\tC # ; ' },
    { section: 'url', subsection: 'a"\\b', key: 'insteadof', value: ' x' },
  ]
  expect(parsedSettings(settingsText(settings))).toEqual(settings)
})

test.each([
  ['credential.helper', 'store'],
  ['credential.https://x.helper', '!echo password=x'],
  ['http.extraheader', 'Authorization: x'],
  ['http.https://x.proxy', 'http://user:password@x'],
  ['url.https://token@x/.insteadof', 'https://x/'],
  ['url.https://x/.insteadof', 'https://user:password@x/'],
  ['alias.x', '!curl -H token'],
  ['core.fsmonitor', '/home/me/x'],
  ['core.hookspath', '/home/me/hooks'],
  ['core.sshcommand', 'ssh -i key'],
  ['core.askpass', 'x'],
  ['commit.gpgsign', 'true'],
  ['user.signingkey', 'ABC'],
  ['filter.evil.clean', 'sh x'],
  ['filter.lfs.clean', 'git-lfs clean; sh x'],
  ['github.token', 'x'],
  ['sendemail.smtppass', 'x'],
])('%s = %s is not passed on', (name, value) => {
  const [section = '', ...rest] = name.split('.')
  const key = rest.pop() ?? ''
  const below = rest.length === 0 ? {} : { subsection: rest.join('.') }
  expect(passedSettings([{ section, ...below, key, value }])).toEqual([])
})

test('passes on identity, git aliases and the ignore file, and follows includes', async () => {
  const home = await freshFolder()
  await mkdir(join(home, '.config/git'), { recursive: true })
  await writeFile(join(home, '.config/git/ignore'), '*.o\n')
  await writeFile(
    join(home, '.gitconfig'),
    '[user]\nname = P\n[include]\npath = more\n[includeIf "gitdir:~/work/"]\npath = ~/work.inc\n[includeIf "gitdir:~/other/"]\npath = ~/other.inc\n',
  )
  await writeFile(join(home, 'more'), '[alias]\nst = status\n[http]\nextraHeader = secret\n')
  await writeFile(join(home, 'work.inc'), '[user]\nemail = p@work\n')
  await writeFile(join(home, 'other.inc'), '[user]\nemail = p@other\n')
  const { text, files } = await gitHome([home], undefined, join(home, 'work/ws'))
  expect(files).toEqual([join(home, '.config/git/ignore')])
  expect(parsedSettings(text)).toEqual([
    { section: 'core', key: 'excludesfile', value: join(home, '.config/git/ignore') },
    { section: 'user', key: 'name', value: 'P' },
    { section: 'alias', key: 'st', value: 'status' },
    { section: 'user', key: 'email', value: 'p@work' },
  ])
})
