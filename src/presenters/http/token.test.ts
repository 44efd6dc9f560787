import { expect, test } from 'vitest'
import { localServer } from '../../../test/support/http/local-server.ts'

test('a wrong token is not answered like a missing one', async () => {
  const { origin } = await localServer()
  const messageFor = async (headers: Record<string, string>) => {
    const response = await fetch(`${origin}/api/harness/limits`, { headers })
    const body = await response.text()
    return [response.status, /"message":"([^"]*)"/.exec(body)?.[1]]
  }
  expect(await messageFor({})).toEqual([401, expect.stringContaining('needs the header')])
  expect(await messageFor({ authorization: 'Bearer wrong' })).toEqual([
    401,
    expect.stringContaining('is not that of this server'),
  ])
})
