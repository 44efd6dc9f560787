import { SessionId } from '../../model/ids.ts'

/** File names of a Session. Ids are already validated, so they are safe in a path. */
export const logName = (session: SessionId) => `${session}.ndjson`
export const leaseName = (session: SessionId) => `${session}.lease`
export const indexName = (session: SessionId) => `${session}.index`
/** The marker of a deleted Session whose Log forks still need. */
export const hiddenName = (session: SessionId) => `${session}.deleted`
export const tornName = (session: SessionId, piece: string) => `${session}.torn-${piece}`

/** The Sessions whose id with `ending` is among these names. */
export function sessionsNamed(names: readonly string[], ending: string): SessionId[] {
  return names.flatMap((name) =>
    name.endsWith(ending)
      ? (SessionId.safeParse(name.slice(0, name.length - ending.length)).data ?? [])
      : [],
  )
}
