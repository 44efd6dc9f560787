/** Something that a command would destroy. */
export interface RepositoryLoss {
  /** For the person who is asked, and for the model that is refused. */
  readonly reason: string
  /** An Instance may do it to its own workspace. */
  readonly own?: true
}

export const HISTORY: RepositoryLoss = {
  reason: 'it deletes history of the repository',
}
export const WORK: RepositoryLoss = {
  reason: 'it discards work that is not committed',
}
/** By `git reset --hard` and `git clean`. */
export const OWN_WORK: RepositoryLoss = { ...WORK, own: true }
export const REMOTE: RepositoryLoss = {
  reason: 'it overwrites or deletes history in another repository',
}
