import { once } from 'node:events'
import { mkdir, rename } from 'node:fs/promises'
import { createServer } from 'node:net'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { freshFolder } from '../../../../test/support/host/folder.ts'
import { socketMounts, socketNames } from './socket-mounts.ts'

test('parses the socket list of the system, skipping abstract, unnamed and accepted sockets', () => {
  const listed = `Num       RefCount Protocol Flags    Type St Inode Path
0000000000000000: 00000003 00000000 00000000 0001 03 299434
0000000000000000: 00000002 00000000 00010000 0001 01 21 /run/dbus/system bus
0000000000000000: 00000002 00000000 00010000 0001 01   210 /home/me/.agent
0000000000000000: 00000002 00000000 00010000 0001 01 211 @/tmp/.X11-unix/X0
0000000000000000: 00000002 00000000 00010000 0005 01 213 relative.sock
0000000000000000: 00000002 00000000 00000000 0002 01 214 /dev/log
0000000000000000: 00000003 00000000 00000000 0001 03 215 /gone/listener
0000000000000000: 00000003 00000000 00000000 0001 03 212 /home/me/.agent
`
  expect(socketNames(listed).map(({ name }) => name)).toEqual([
    '/run/dbus/system bus',
    '/home/me/.agent',
    'relative.sock',
    '/dev/log',
  ])
})

test.runIf(process.platform === 'linux')(
  'a socket that left its path is found in every folder that is shown, also in one that is shown later',
  async () => {
    const root = await freshFolder()
    const moved = async (name: string) => {
      await mkdir(join(root, name))
      const server = createServer().listen(join(root, `${name}.socket`))
      onTestFinished(() => void server.close())
      await once(server, 'listening')
      await rename(join(root, `${name}.socket`), join(root, name, 'moved'))
      return join(root, name)
    }
    const [one, two] = [await moved('one'), await moved('two')]
    const hidden = async (...shown: string[]) =>
      (await socketMounts(shown, shown)).map(({ at }) => at)
    expect(await hidden(one)).toEqual([join(one, 'moved')])
    expect(await hidden(two)).toEqual([join(two, 'moved')])
    expect(await hidden(one, two)).toEqual([join(one, 'moved'), join(two, 'moved')])
  },
)
