/**
 * One spelling for all names that some file system takes for the same: other case, other composition, letters that are
 * not seen, dots and spaces at the end. Two names that fold alike may still be two files; use it to refuse only.
 */
export function foldedName(name: string): string {
  // Most names are plain ASCII, and a look at a large workspace folds every one of them.
  if (PLAIN.test(name)) return name.toLowerCase()
  const plain = name.normalize('NFKD').replaceAll(/\p{Default_Ignorable_Code_Point}/gu, '')
  return plain
    .toUpperCase()
    .toLowerCase()
    .replace(/[. ]+$/, '')
}

const PLAIN = /^[!-~]*[!--/-~]$/

/** The folded segments of a path from the workspace, without `.` and `..`. */
export function foldedSegments(path: string): string[] {
  const segments: string[] = []
  for (const segment of path.split('/')) {
    if (segment === '' || segment === '.') continue
    if (segment === '..') segments.pop()
    else segments.push(foldedName(segment))
  }
  return segments
}
