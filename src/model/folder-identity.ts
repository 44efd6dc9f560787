/** What makes a folder the same one later: its path without links, and what the file system knows it by. See ADR 28. */
export interface FolderIdentity {
  /** Absolute, with all links resolved. */
  readonly path: string
  /** Device and inode, as decimal numbers. */
  readonly dev: string
  readonly ino: string
  /** When it was created, in nanoseconds: an inode is used again. Absent where the file system does not record it. */
  readonly born?: string | undefined
  /** The boot of the machine in which `dev` is valid. Absent where the system does not tell. */
  readonly boot?: string | undefined
}

/**
 * Whether two identities are those of one folder. Some file systems get another device number at each boot; a rename cannot
 * cross a file system, so path and inode decide then.
 */
export function isSameFolder(one: FolderIdentity, other: FolderIdentity): boolean {
  const isSameDevice = one.dev === other.dev || isOtherBoot(one, other)
  const isSameBirth = one.born === undefined || other.born === undefined || one.born === other.born
  return one.path === other.path && one.ino === other.ino && isSameDevice && isSameBirth
}

function isOtherBoot({ boot: one }: FolderIdentity, { boot: other }: FolderIdentity): boolean {
  return one !== undefined && other !== undefined && one !== other
}
