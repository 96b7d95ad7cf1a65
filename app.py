"""Entry of the CDK application: `cdk deploy` reads the context of cdk.json and makes these stacks."""

from aws_cdk import App, Validations
from cdk_nag import AwsSolutionsChecks

from infra.stacks import build

app = App()
build(app)
Validations.of(app).add_plugins(AwsSolutionsChecks(app))
app.synth()
