import { failed, ok, type Failed, type Result } from '../../model/errors.ts'
import { asResult, closing, ifThere, readSpan, replaceFile, type Folder } from '../files/files.ts'
import type { Ids } from '../ids.ts'
import { newSecret } from './secret.ts'

const NAME = 'token'
const MOST_BYTES = 64

/** 256 random bits in base64url, with or without a final newline. */
const TOKEN = /^([A-Za-z0-9_-]{43})\n?$/

/**
 * The token of the local server, created if it is missing. Call it while holding the lock of the server. A file that
 * another user owns or can read is refused and not repaired: its content may be known. Judged by the open file.
 */
export async function serverToken(home: Folder, ids: Ids): Promise<Result<string>> {
  return asResult(`read ${home.label}/${NAME}`, async () => {
    const known = await readToken(home)
    if (known !== undefined) return known
    const token = newSecret()
    await replaceFile(home, NAME, Buffer.from(`${token}\n`), ids.temporary())
    return ok(token)
  })
}

/** The token of a server that runs, for its clients. Creates nothing. */
export async function knownToken(home: Folder): Promise<Result<string>> {
  return asResult(`read ${home.label}/${NAME}`, async () => {
    const known = await readToken(home)
    return known ?? failed('not_found', `The token file ${home.label}/${NAME} does not exist.`)
  })
}

async function readToken(home: Folder): Promise<Result<string> | undefined> {
  const file = await ifThere(home.open(NAME, 'read'))
  if (file === undefined) return undefined
  return closing(file, async () => {
    const { onlyOurs, links } = await file.stat()
    if (!onlyOurs || links !== 1) return refusedToken(home, 'other users can read it')
    const text = (await readSpan(file, 0, MOST_BYTES)).toString('latin1')
    const token = TOKEN.exec(text)?.[1]
    return token === undefined ? refusedToken(home, 'it is not a token') : ok(token)
  })
}

function refusedToken({ label }: Folder, why: string): Failed {
  const path = `${label}/${NAME}`
  return failed('permission_denied', `The token in ${path} is not usable: ${why}.`, { path }, [
    { action: 'Delete it. The next start creates another one.', command: `rm ${path}` },
  ])
}
