import { isJsonObject, parseJson } from '../encoding/json.ts'

/** The argument that names what a call is about, from the model's own text; `undefined` if there is none. */
export function mainArgument(text: string): string | undefined {
  const args = parseJson(text)
  if (!isJsonObject(args)) return undefined
  const value = args['path'] ?? args['command'] ?? args['pattern']
  return typeof value === 'string' ? value : undefined
}
