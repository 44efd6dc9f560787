import { failed, type Failed } from '../model/errors.ts'
import { InstanceId } from '../model/ids.ts'
import { InstanceHandle } from '../model/tether/instance.ts'

/** Whether a text can name an Instance: an id or a handle. Anything else names none, and never becomes a part of a URL. */
export function isInstanceName(name: string): boolean {
  return InstanceHandle.safeParse(name).success || InstanceId.safeParse(name).success
}

export function invalidImageKey(): Failed {
  return failed('invalid_args', 'Invalid image key; expected <sha256>.<png|jpg|gif|webp>.')
}

export function noSuchInstance(name: string): Failed {
  return failed('not_found', 'This Instance does not exist.', { instance: name.slice(0, 200) }, [
    { action: 'List all Instances.', command: 'hawser instance list' },
  ])
}
