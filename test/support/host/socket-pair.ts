import { once } from 'node:events'
import { connect, createServer, Socket } from 'node:net'
import { join } from 'node:path'
import { freshFolder } from './folder.ts'

/** Two ends of a socket, both in this process. */
export async function socketPair(): Promise<readonly [Socket, Socket]> {
  const path = join(await freshFolder(), 'pair')
  const server = createServer()
  server.listen(path)
  await once(server, 'listening')
  const accepted = once(server, 'connection')
  const ours = connect(path)
  const [theirs] = await accepted
  server.close()
  if (!(theirs instanceof Socket)) throw new Error('no socket was accepted')
  return [ours, theirs]
}
