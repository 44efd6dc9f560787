/** What a sandbox prevents and what it does not, in sentences for people. */
export interface SandboxGuarantees {
  readonly holds: readonly string[]
  readonly does_not_hold: readonly string[]
}

/** Applies to every command that bubblewrap confines here. */
export const SANDBOX_GUARANTEES: SandboxGuarantees = {
  holds: [
    'Commands can write only to the workspace.',
    'Commands can read the system, toolchains, PATH folders, git settings without credentials, and the workspace. Other files in home folders are hidden.',
    'Commands cannot read or change the .hawser folders of the workspace and of workspaces in it (up to 1,000 of those), and cannot move or remove them (up to 24). A new one that a command creates is moved away when it ends.',
    'Commands cannot lead Hawser or an Instance to another folder: one that takes the place of a workspace, or is a link to it, is refused.',
    'Agents of Instances see Sessions of their own Instance only.',
    'Known credential files in readable folders are hidden.',
    'Commands cannot connect to Unix sockets outside the workspace.',
    'Commands have no network access unless you allow it, and never sockets of other families, such as vsock, packet and Bluetooth.',
  ],
  does_not_hold: [
    'With network access, commands can connect to abstract Unix sockets of this machine, because these share the network namespace.',
    'Commands can connect to a Unix socket of a container if it is in a folder they can read.',
  ],
}
