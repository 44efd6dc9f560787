import { restoreHome, storedFiles } from '../log/stored-home.ts'

const FORMAT = 'shared-records'

/** The Sessions of that home: of the person, and of the conversations of the Instance. */
export const MADE = {
  instance: 'ins_01m7pg0dd5tjsjxhf1fth0shbt',
  person: 'ses_01m7pg0cv9pc32v32r70y9c178',
  one: 'ses_01m7pg0k04k1baz4gbs6qm0838',
  two: 'ses_01m7pg0ka0xfg6jrj3mwcpb1zw',
  /** An image that both have, and one that only the Instance has. */
  shared: '9f8338553acc8591891213f42b9ff81aa475f2e5f8194f2a310ab95cad7f7029.png',
  own: '5a609407b64be929acd00d41a1a2da3605cc24c3b2db378136074dcc6cacc887.png',
} as const

/** Every file of the home and the workspace, by its path; see test/formats/shared-records. */
export function madeFiles(): Promise<ReadonlyMap<string, Buffer>> {
  return storedFiles(FORMAT)
}

/** Writes that home to `root/home` and its workspace to `root/workspace`. */
export function restoreMadeHome(root: string): Promise<void> {
  return restoreHome(FORMAT, root)
}
