import { readJson } from '../../../rehearse/src/json-body.ts'
import { requestErrors, type VendorDialect } from './vendor-schemas.ts'

interface VendorBody {
  /** `undefined` if the bytes are not JSON. */
  readonly body: unknown
  readonly errors: readonly string[]
}

/** Parses the body of a request as strictly as the strictest vendor, and checks it against the types of the vendor's SDK. */
export function readBody(dialect: VendorDialect, bytes: Buffer): VendorBody {
  const { body, faults } = readJson(bytes)
  if (body === undefined) return { body, errors: faults }
  return { body, errors: [...faults, ...requestErrors(dialect, body)] }
}
