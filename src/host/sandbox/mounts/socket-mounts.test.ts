import { expect, test } from 'vitest'
import { socketNames } from './socket-mounts.ts'

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
