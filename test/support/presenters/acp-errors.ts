import { RequestError } from '@agentclientprotocol/sdk'

/** The error that a request is answered with. */
export async function errorOf(
  request: Promise<unknown>,
): Promise<{ readonly code: number; readonly message: string; readonly data: unknown }> {
  try {
    await request
  } catch (error) {
    if (!(error instanceof RequestError)) throw error
    return { code: error.code, message: error.message, data: error.data }
  }
  throw new Error('the request was answered without an error')
}
