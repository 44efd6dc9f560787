/**
 * The files that a paste has; none if it has text. Spreadsheets and word processors add a picture of what was copied, and the
 * text is meant.
 */
export function pastedFiles(data: DataTransfer): readonly File[] {
  const isText = data.getData('text/plain').trim() !== '' && !data.types.includes('text/uri-list')
  const files = [...data.files]
  return isText && files.every(({ type }) => type.startsWith('image/')) ? [] : files
}
