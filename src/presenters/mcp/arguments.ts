import * as z from 'zod'

export const NAME_CHARACTERS = 200

/** Each tool for one Instance has this argument. */
export const InstanceArgument = z
  .string()
  .min(1)
  .max(NAME_CHARACTERS)
  .describe('Handle or id of the Instance, as instance_list shows it.')
